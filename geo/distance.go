package geo

import "math"

// Point is a point of the globe, as the direction to it from the middle: what is needed to find, for very many
// points, which of some others are nearer.
type Point struct{ x, y, z float64 }

// PointAt is the point at these degrees.
func PointAt(latitude, longitude float64) Point {
	const degree = math.Pi / 180
	sin, cos := math.Sincos(latitude * degree)
	east, north := math.Sincos(longitude * degree)
	return Point{cos * north, cos * east, sin}
}

// Apart grows with the great-circle distance of two points, and is much cheaper than that: it is the square of the
// straight line between them, with the earth's radius for 1. The earth is taken for a sphere, which is wrong by half a
// percent at most.
func (p Point) Apart(q Point) float64 {
	x, y, z := p.x-q.x, p.y-q.y, p.z-q.z
	return x*x + y*y + z*z
}
