package speaker_test

import (
	"bytes"
	"context"
	"fmt"

	"gslb/bgp/speaker"
	"gslb/bgp/wire"
)

// Example is the whole of the hidden command, but for its pipe.
func Example() {
	var in, out bytes.Buffer
	server := wire.NewWriter(&in)
	server.Write(wire.Hello{Version: wire.Version})
	server.Write(wire.Stop{})

	err := speaker.Run(context.Background(), &in, &out)

	first, _ := wire.NewReader(&out).Read()
	fmt.Printf("%T %v\n", first, err)
	// Output: wire.Hello <nil>
}
