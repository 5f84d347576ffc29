package health

import (
	"bytes"
	"io"
	"math"
	"net/netip"
	"regexp"
	"strconv"
	"time"
)

// Load is how much an endpoint carries, in whatever unit it counts by: 0 is nothing. It takes no part in verdicts.
type Load struct {
	Value float64
	At    time.Time // when it was told
}

// Load gives the load that a target's check reported last for its endpoint; false when it has reported none yet.
func (o *Outside) Load(t Target) (Load, bool) {
	l, ok := o.loads.Load(errand{t.Check.Kind, t.Address})
	if !ok {
		return Load{}, false
	}
	return l.(Load), true
}

// weigh keeps what was told of the load of an endpoint.
func (o *Outside) weigh(kind Kind, at netip.Addr, value float64) {
	o.loads.Store(errand{kind, at}, Load{value, time.Now()})
}

// forgetLoads drops what was told by checks that are no more.
func (o *Outside) forgetLoads(targets []Target) {
	wanted := make(map[errand]bool, len(targets))
	for _, t := range targets {
		wanted[errand{t.Check.Kind, t.Address}] = true
	}
	o.loads.Range(func(key, _ any) bool {
		if !wanted[key.(errand)] {
			o.loads.Delete(key)
		}
		return true
	})
}

// loadIn finds the load in what an endpoint said: the number that the expression's group matched.
func loadIn(expression string, said []byte) (float64, bool) {
	regex, err := regexp.Compile(expression)
	if err != nil || regex.NumSubexp() < 1 {
		return 0, false
	}
	m := regex.FindSubmatch(said)
	if m == nil {
		return 0, false
	}
	return amount(m[1])
}

// performance finds the load in what a monitoring plugin said: behind a bar stand words such as 'load'=12;50;100, whose
// value may have a unit.
func performance(said []byte) (float64, bool) {
	_, data, _ := bytes.Cut(said, []byte("|"))
	for word := range bytes.FieldsSeq(data) {
		label, value, _ := bytes.Cut(word, []byte("="))
		if string(bytes.Trim(label, "'")) != "load" {
			continue
		}
		value, _, _ = bytes.Cut(value, []byte(";"))
		return amount(bytes.TrimRight(value, "%abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
	}
	return 0, false
}

// amount reads a number that can be a load.
func amount(text []byte) (float64, bool) {
	v, err := strconv.ParseFloat(string(text), 64)
	return v, err == nil && v >= 0 && !math.IsInf(v, 0)
}

// beginning reads at most what of an answer is searched. What was read before an error stays of use.
func beginning(answer io.Reader) ([]byte, error) {
	return io.ReadAll(io.LimitReader(answer, answerMax))
}
