package sign

import (
	"time"

	"gslb/dns/zone"
)

// Outlook is how long the answers of a signed zone stay good when nothing is done any more.
type Outlook struct {
	Zone     zone.Name
	Expires  time.Time     // when the first of the signatures ends that were made beforehand
	Validity time.Duration // that signatures are made for; a quarter of it is left when they are made anew
	Followed bool          // the keys in use are those of the folder; false: what is there now cannot be used
}

// Outlooks tells of every signed zone in use, as it stood when its signatures were looked through last.
func (s *Signer) Outlooks() []Outlook {
	signed := s.latest.Load()
	if signed == nil {
		return nil
	}
	all := make([]Outlook, 0, len(signed.zones))
	for _, w := range signed.zones {
		if o := w.outlook.Load(); o != nil {
			all = append(all, *o)
		}
	}
	return all
}

func (w *watched) lookAhead(now time.Time) {
	w.outlook.Store(&Outlook{Zone: w.plain.Origin(), Expires: w.earliest(now), Validity: w.rules.Validity, Followed: w.fault == ""})
}
