package admin

import "gslb/bgp"

// counted is what was counted of one table. Counting takes a look at every route, and a listing asks
// for page after page of the same table.
type counted struct {
	version  uint64
	accounts []bgp.Account // shared: nobody writes to it
}

// accounts gives the accounts of a table.
func (h *handler) accounts(t *bgp.Table) []bgp.Account {
	if c := h.counted.Load(); c != nil && c.version == t.Version() {
		return c.accounts
	}
	c := &counted{t.Version(), t.Accounts()}
	h.counted.Store(c)
	return c.accounts
}
