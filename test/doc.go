// Package test answers: does the whole do what the stories say, and does the house stand as designed?
//
// It holds no code, only tests over packages: the floors and fences of the house (arch_test.go), and
// what is shipped beside the binary (deploy_test.go). `./test/run` is the one command that runs
// everything; a package's own tests stand beside its code.
package test
