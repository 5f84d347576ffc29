// Package kit answers the question of a partner's network engineer: what is my router to be
// configured with?
//
// [Write] gives ready configuration of one kind of router for the partner's end of every session,
// from ours: addresses and AS numbers change sides, and what we would not believe is not announced.
//
//	text, err := kit.Write(kit.BIRD, cfg.BGP, cfg.Partners[0])
//
// A secret is named by the file that holds it, and never read. The package looks nothing up: where our
// configuration leaves a choice to the kernel, such as our own address, the text has a word that no
// router takes for an address, and the reader has to replace it.
package kit
