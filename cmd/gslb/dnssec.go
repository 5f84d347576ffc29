package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gslb/cmd/gslb/sheet"
	"gslb/dns/sign"
	"gslb/dns/zone"
)

func newDNSSEC(o *options) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "dnssec ZONE [rollover csk|ksk|zsk | parent-changed]",
		Short: "Show the keys of a signed zone, its DS records and what happens next; roll keys over",
		Long: `Show the keys of a signed zone, the DS records for its parent, and what happens to the keys next.

"rollover" makes the key that follows the one in use, and writes into the key files at which time each step
is due; the server follows the files. For a ZSK nothing else has to be done. For a CSK or KSK, the DS record
at the parent has to change from the old key to the new one, but not before the time that is shown; parents
that read CDS or CDNSKEY records do this by themselves. When all of the parent's servers have the new record,
say so with "parent-changed": the old key is removed once no resolver can still have it in its cache.

All of this is kept in the folder of keys. After each step, copy the folder to the other servers of the zone
at once: a rollover leaves them the time of dnssec.propagation for that.`,
		Args: zoneAndDeed,
		RunE: func(c *cobra.Command, args []string) error {
			d, err := openDNSSEC(o.file, args[0], c.ErrOrStderr())
			if err != nil {
				return err
			}
			switch rest := args[1:]; {
			case len(rest) == 0:
				return d.show(c.OutOrStdout(), asJSON)
			case len(rest) == 2 && rest[0] == "rollover":
				return d.roll(c.OutOrStdout(), rest[1])
			case len(rest) == 1 && rest[0] == "parent-changed":
				return d.parentChanged(c.OutOrStdout())
			}
			return usagef("what is %q? It can be rollover csk, rollover ksk, rollover zsk or parent-changed", strings.Join(args[1:], " "))
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// zoneAndDeed asks for a zone, and for no more words than a rollover has.
func zoneAndDeed(c *cobra.Command, args []string) error {
	if len(args) > 3 {
		return fmt.Errorf("%q is too much: gslb dnssec ZONE rollover csk|ksk|zsk", args[3])
	}
	return one("zone")(c, args[:min(len(args), 1)])
}

// dnssec is one call of the command.
type dnssec struct {
	source sign.Source
	now    time.Time
}

func openDNSSEC(file, name string, complaints io.Writer) (dnssec, error) {
	_, policy, err := loadGood(file, complaints)
	if err != nil {
		return dnssec{}, err
	}
	origin, err := zone.ParseName(name)
	if err != nil {
		return dnssec{}, usagef("%v", err)
	}
	var names []string
	for _, source := range policy.Signed() {
		if source.Zone.Origin() == origin {
			return dnssec{source, time.Now()}, nil
		}
		names = append(names, strings.TrimSuffix(source.Zone.Origin().String(), "."))
	}
	if _, there := policy.Zone(origin); there {
		return dnssec{}, fmt.Errorf("zone %s is not signed: zones.%s.dnssec.keys, the folder of its keys, would sign it", name, name)
	}
	return dnssec{}, unknown("signed zone", name, names)
}

// keyView is a key, as the operator sees it.
type keyView struct {
	Tag       uint16    `json:"tag"`
	Role      string    `json:"role"`
	Algorithm string    `json:"algorithm"`
	State     string    `json:"state"`
	Since     time.Time `json:"activated,omitzero"`
	Path      string    `json:"path"`
	DS        []string  `json:"ds,omitempty"`
	DSFrom    time.Time `json:"ds_not_before,omitzero"` // when the parent may have them, if that is not yet
}

// eventView is what is to happen to a key.
type eventView struct {
	At   time.Time `json:"at"`
	Key  uint16    `json:"key"`
	Text string    `json:"text"`
}

// dnssecView is what gslb dnssec prints.
type dnssecView struct {
	Zone   string      `json:"zone"`
	Folder string      `json:"folder"`
	Denial string      `json:"denial"`
	Keys   []keyView   `json:"keys"`
	Next   []eventView `json:"next"`
	Waits  string      `json:"waits_for_parent,omitempty"`
}

func (d dnssec) view() (dnssecView, error) {
	v := dnssecView{
		Zone: d.source.Zone.Origin().String(), Folder: d.source.Folder,
		Denial: [...]string{sign.NSEC: "nsec", sign.NSEC3: "nsec3", sign.Compact: "compact"}[d.source.Rules.Denial],
		Keys:   []keyView{}, Next: []eventView{},
	}
	keys, err := sign.ReadFolder(d.source.Folder, d.source.Zone.Origin())
	for _, k := range keys {
		one := keyView{
			Tag: k.Tag(), Role: sign.RoleOf(k, keys, d.now).String(), Algorithm: k.Algorithm().String(), State: k.State(d.now), Since: k.Times.Activate, Path: k.Path(),
		}
		for _, digest := range []sign.Digest{sign.SHA256, sign.SHA384} {
			if _, text := k.DS(digest); k.EntryPoint() && one.State != "removed" {
				one.DS = append(one.DS, text)
			}
		}
		if k.EntryPoint() && k.Times.SyncPublish.After(d.now) {
			one.DSFrom = k.Times.SyncPublish
		}
		v.Keys = append(v.Keys, one)
	}
	for _, e := range sign.Events(keys, d.now) {
		v.Next = append(v.Next, eventView{e.At, e.Key.Tag(), e.Text})
	}
	if old, next := sign.WaitsForParent(keys); old != nil {
		v.Waits = fmt.Sprintf("the parent's DS record is to change from key %d to key %d, not before %s; then: gslb dnssec %s parent-changed",
			old.Tag(), next.Tag(), sheet.Stamp(next.Times.SyncPublish), strings.TrimSuffix(v.Zone, "."))
	}
	return v, err
}

func (d dnssec) show(w io.Writer, asJSON bool) error {
	v, err := d.view()
	if err != nil {
		return err
	}
	if asJSON {
		return writeJSON(w, v)
	}
	fmt.Fprintf(w, "%s keys in %s, denial by %s\n", v.Zone, v.Folder, v.Denial)
	if len(v.Keys) == 0 {
		fmt.Fprintln(w, "\nThere is no key yet: the server makes one when it starts.")
		return nil
	}
	t := sheet.NewTable(w, "  ")
	t.Row("KEY", "ROLE", "ALGORITHM", "STATE", "SIGNS SINCE")
	for _, k := range v.Keys {
		t.Row(fmt.Sprint(k.Tag), k.Role, k.Algorithm, k.State, since(k.Since, d.now))
	}
	t.Flush()
	fmt.Fprintln(w, "\nDS records for the parent:")
	for _, k := range v.Keys {
		for _, ds := range k.DS {
			fmt.Fprintf(w, "  %s IN DS %s%s\n", v.Zone, ds, notBefore(k.DSFrom))
		}
	}
	if len(v.Next) > 0 {
		fmt.Fprintln(w, "\nNext:")
	}
	for _, e := range v.Next {
		fmt.Fprintf(w, "  %s (in %s): %s\n", sheet.Stamp(e.At), sheet.Left(e.At.Sub(d.now)), e.Text)
	}
	if v.Waits != "" {
		fmt.Fprintf(w, "\nWaiting: %s\n", v.Waits)
	}
	return nil
}

// notBefore is a comment in the manner of master files.
func notBefore(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " ; not before " + sheet.Stamp(t)
}

func since(t, now time.Time) string {
	switch {
	case t.IsZero():
		return "ever"
	case t.After(now):
		return "-"
	}
	return sheet.Stamp(t)
}

func (d dnssec) roll(w io.Writer, word string) error {
	roles := []sign.Role{sign.CSK, sign.KSK, sign.ZSK}
	i := slices.IndexFunc(roles, func(r sign.Role) bool { return strings.EqualFold(r.String(), word) })
	if i < 0 {
		return usagef("%q is none of csk, ksk, zsk", word)
	}
	next, err := d.source.Roll(roles[i], d.now)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "key %d made: copy %s to the other servers of the zone now\n\n", next.Tag(), d.source.Folder)
	return d.show(w, false)
}

func (d dnssec) parentChanged(w io.Writer) error {
	old, err := d.source.ParentChanged(d.now)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "key %d goes: copy %s to the other servers of the zone now\n\n", old.Tag(), d.source.Folder)
	return d.show(w, false)
}
