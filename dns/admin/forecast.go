package admin

import (
	"math"
	"time"
)

// model names where the forecast comes from, so that nobody takes it for a measurement.
const model = "a model, not a measurement: S(t) = 0.90 max(0, 1-t/L) + 0.095 min(1, (t/L)^-0.7) + 0.005 with L = max(TTL, 20 s) + 40 s, " +
	"fitted to published drains: most users follow the TTL, some resolvers keep answers longer, and a few never ask again"

// left is what part of the users still comes so long after a drain began, by the model.
func left(t, ttl time.Duration) float64 {
	l := float64(max(ttl, 20*time.Second)+40*time.Second) / float64(time.Second)
	x := max(0, t.Seconds()/l)
	tail := 1.0
	if x > 1 {
		tail = math.Pow(x, -0.7)
	}
	return 0.90*max(0, 1-x) + 0.095*tail + 0.005
}

// forecast is the model's line for a drain that began at a moment, with the longest TTL of its answers.
func forecast(since time.Time, ttl uint32, now time.Time) Forecast {
	span := time.Duration(ttl) * time.Second
	f := Forecast{Model: model, Now: left(now.Sub(since), span), Points: []Point{}}
	step := (max(span, 20*time.Second) + 40*time.Second) / 4
	for _, n := range []time.Duration{0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256} {
		f.Points = append(f.Points, Point{since.Add(n * step), left(n*step, span)})
	}
	return f
}
