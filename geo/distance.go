package geo

import "math"

// earthRadius is the mean radius in kilometres.
const earthRadius = 6371.0088

// Distance is the great-circle distance in kilometres between two points given in degrees. The earth is taken for a
// sphere, which is wrong by half a percent at most; by the haversine formula it is stable for near points as well.
func Distance(lat1, lon1, lat2, lon2 float64) float64 {
	const degree = math.Pi / 180
	north := math.Sin((lat2 - lat1) * degree / 2)
	east := math.Sin((lon2 - lon1) * degree / 2)
	h := north*north + math.Cos(lat1*degree)*math.Cos(lat2*degree)*east*east
	return 2 * earthRadius * math.Asin(math.Sqrt(min(h, 1))) // rounding may take h above 1 for antipodes
}
