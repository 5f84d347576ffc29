package main

import (
	"fmt"

	"gslb/bgp"
	"gslb/bgp/rpki"
	"gslb/config"
)

// peerless warns of the files of partners that cannot be used as they are now. The server starts without them: it costs
// the session, or the judging of origins, until they are there.
func peerless(cfg *config.Config) config.Problems {
	var problems config.Problems
	warn := func(path string, err error) {
		if err != nil {
			problems = append(problems, config.Problem{Pos: cfg.At(path), Path: path, Message: err.Error(), Warning: true})
		}
	}
	if file := cfg.BGP.RPKI.File; file != "" {
		_, err := rpki.ReadFile(file)
		warn("bgp.rpki.file", err)
	}
	for _, partner := range cfg.Partners {
		for i, peer := range partner.Peers {
			if peer.PasswordFile != "" {
				warn(fmt.Sprintf("partners.%s.peers[%d].password_file", partner.Name, i), bgp.PasswordReady(peer.PasswordFile))
			}
		}
	}
	return problems.Sorted()
}
