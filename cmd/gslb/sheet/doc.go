// Package sheet answers the question: what does an operator read at a terminal?
//
// It prints what the verbs of gslb have found out: how a server stands ([Status]), how far clients have left a place
// ([Departure]), sessions and networks ([Partners], [Routes]), what happened ([Events]), all of these on a screen that is
// drawn again and again ([Top]), and what a configuration says ([Config]). Two sheets are about many clients, and can be
// written as JSON, too: [Moves], which gslb diff makes of a comparison, and [Capacities], which gslb check makes of the
// losses of places. For example:
//
//	status, err := get[admin.Status](ctx, server, "/v1/status", nil)
//	sheet.Status(os.Stdout, time.Now(), status)
//
// A sheet groups, rounds and bounds figures, and puts them into words. It asks no server, opens no file and reads no clock.
package sheet
