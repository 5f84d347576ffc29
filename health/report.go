package health

import "iter"

// roster is the fixed list of what is on a board. It is immutable and shared by all reports from one
// change of targets to the next, so that a report costs only what changed in it.
type roster struct {
	keys  []Key
	index map[Key]int
}

// pageSize is how many endpoints are copied when one of them changes: few enough to be cheap, enough
// to keep the list of pages short.
const pageSize = 64

// page is a run of endpoints; reports share the pages in which nothing changed.
type page [pageSize]Endpoint

// Report is the state of all endpoints at one moment. It is immutable. Reports of one board with the
// same version are the same.
type Report struct {
	version uint64
	roster  *roster
	pages   []*page
	brake   Brake
}

// Version counts the changes of the board, from 1 for the empty one.
func (r *Report) Version() uint64 { return r.version }

// Brake tells whether verdicts are held.
func (r *Report) Brake() Brake { return r.brake }

// Endpoint is the endpoint of a key; the zero Endpoint, which is unknown, for a key that is not on
// the board.
func (r *Report) Endpoint(k Key) Endpoint {
	i, ok := r.roster.index[k]
	if !ok {
		return Endpoint{}
	}
	return r.At(i)
}

// Index is the number of a key on the board: the same in all reports of one roster, of which [Report.Changed]
// tells.
func (r *Report) Index(k Key) (int, bool) {
	i, ok := r.roster.index[k]
	return i, ok
}

// At is the endpoint with a number.
func (r *Report) At(i int) Endpoint { return r.pages[i/pageSize][i%pageSize] }

// Changed gives, in order, the numbers of the endpoints that differ from an older report. Its cost is that of what
// changed. When ok is false the two reports have different rosters, so that their numbers do not mean the same.
func (r *Report) Changed(old *Report) (numbers []int, ok bool) {
	if r.roster != old.roster {
		return nil, false
	}
	for i, p := range r.pages {
		if p == old.pages[i] {
			continue
		}
		for j := range p {
			if p[j] != old.pages[i][j] {
				numbers = append(numbers, i*pageSize+j)
			}
		}
	}
	return numbers, true
}

// Len is the number of endpoints.
func (r *Report) Len() int { return len(r.roster.keys) }

// All goes over the endpoints in the order of the targets that they were made from.
func (r *Report) All() iter.Seq2[Key, Endpoint] {
	return func(yield func(Key, Endpoint) bool) {
		for i, k := range r.roster.keys {
			if !yield(k, r.At(i)) {
				return
			}
		}
	}
}
