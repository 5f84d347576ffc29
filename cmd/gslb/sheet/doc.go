// Package sheet answers the question: what does an operator read at a terminal?
//
// It prints what the verbs of gslb have found out: how a server stands ([Status]), how far a place has been left
// ([Departure]), sessions and networks ([Partners], [Routes]), what happened ([Events]), all of that on a screen that is
// drawn again and again ([Top]), and what a configuration says ([Config]). Two sheets are of many clients, and are JSON
// too: [Moves] is what gslb diff tells of a comparison, and [Capacities] what gslb check tells of the losses of places. For
// example:
//
//	status, err := get[admin.Status](ctx, server, "/v1/status", nil)
//	sheet.Status(os.Stdout, time.Now(), status)
//
// A sheet groups, rounds, bounds and words figures. It asks no server, opens no file and reads no clock.
package sheet
