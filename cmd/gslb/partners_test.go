package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"gslb/dns/admin"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// fakeServer answers for a server whose table has so many prefixes, and counts what it is asked.
func fakeServer(t *testing.T, prefixes int) (server client, asked *[]string) {
	t.Helper()
	asked = new([]string)
	fake := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.URL.Path)
		if r.URL.Path == "/v1/partners" {
			_ = json.NewEncoder(w).Encode(admin.Partners{Partners: []admin.Partner{{Partner: "sibtel"}, {Partner: "uralnet"}}})
			return
		}
		first := 0
		if from := r.FormValue("from"); from != "" {
			b := netip.MustParsePrefix(from).Addr().As4()
			first = int(b[1])<<8 | int(b[2])
		}
		limit, err := strconv.Atoi(r.FormValue("limit"))
		if err != nil {
			t.Errorf("limit %q", r.FormValue("limit"))
		}
		page := admin.Routes{Table: prefixes}
		for i := first; i < prefixes; i++ {
			p := netip.PrefixFrom(netip.AddrFrom4([4]byte{20, byte(i >> 8), byte(i)}), 24)
			if len(page.Prefixes) == limit {
				page.Next = p.String()
				break
			}
			page.Prefixes = append(page.Prefixes, admin.Prefix{Prefix: p, Routes: []admin.Route{{Partner: "sibtel"}}})
		}
		_ = json.NewEncoder(w).Encode(page)
	}))
	t.Cleanup(fake.Close)
	return client{address: netip.MustParseAddrPort(fake.Listener.Addr().String())}, asked
}

func TestRoutesOfALargeTableComeInPages(t *testing.T) {
	for _, c := range []struct{ limit, prefixes, want, pages int }{
		{100, 10000, 100, 1},
		{7500, 10000, 7500, 2},
		{0, 10000, 10000, 2},
		{0, 10001, 10001, 3},
		{49999, 7500, 7500, 2},
		{5000, 5000, 5000, 1},
		{0, 0, 0, 1},
	} {
		t.Run(fmt.Sprintf("%d of %d", c.limit, c.prefixes), func(t *testing.T) {
			server, asked := fakeServer(t, c.prefixes)
			var out bytes.Buffer
			if err := (routesQuery{limit: c.limit}).writeJSON(t.Context(), server, &out); err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for line := range strings.Lines(out.String()) {
				var p admin.Prefix
				if err := json.Unmarshal([]byte(line), &p); err != nil {
					t.Fatal(err)
				}
				seen[p.Prefix.String()] = true
			}
			if len(seen) != c.want || len(*asked) != c.pages {
				t.Errorf("got %d prefixes in %d pages, want %d in %d", len(seen), len(*asked), c.want, c.pages)
			}
		})
	}
}

func TestNotesOfRoutesAreThoseOfThePartnersShown(t *testing.T) {
	server, _ := fakeServer(t, 3)
	for partner, want := range map[string]string{"": "sibtel brings no prefixes\n  uralnet brings no prefixes", "uralnet": "\n  uralnet brings no prefixes"} {
		var out bytes.Buffer
		if err := (routesQuery{limit: 100, partner: partner}).print(t.Context(), server, &out, noon); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) || strings.Contains(out.String(), "These are") || partner != "" && strings.Contains(out.String(), "sibtel brings") {
			t.Errorf("%q: got\n%s", partner, out.String())
		}
	}
}
