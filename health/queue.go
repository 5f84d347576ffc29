package health

import "time"

// queue is a binary heap of watches that wait for their time: the first is due first.
type queue []turn

// turn is the place of a watch in a queue. The time stands beside the watch and not in it: comparing is most of what a heap
// does, and watches lie all over the memory.
type turn struct {
	due time.Time
	*watch
}

// push adds a turn.
func (q *queue) push(t turn) {
	all := append(*q, t)
	*q = all
	for i := len(all) - 1; i > 0; {
		above := (i - 1) / 2
		if !all[i].due.Before(all[above].due) {
			return
		}
		all[i], all[above] = all[above], all[i]
		i = above
	}
}

// pop takes the first turn. There must be one.
func (q *queue) pop() turn {
	all, last := *q, len(*q)-1
	first := all[0]
	all[0], all[last] = all[last], turn{}
	all = all[:last]
	*q = all
	for i := 0; ; {
		below := 2*i + 1
		if below+1 < len(all) && all[below+1].due.Before(all[below].due) {
			below++
		}
		if below >= len(all) || !all[below].due.Before(all[i].due) {
			return first
		}
		all[i], all[below] = all[below], all[i]
		i = below
	}
}

// enqueue has a watch wait for its time. The caller holds mu.
func (r *Runner) enqueue(w *watch) { r.queue.push(turn{w.schedule.Due(), w}) }
