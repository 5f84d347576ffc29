// Package page answers: does the operator's page do what it should, in a real browser?
//
// It holds no code, only tests: they run gslb serve with real endpoints, open its page in Chromium without a window, and
// use it as people do. Chromium is driven over its own debugging pipe (see pipe_test.go), so that nothing but the browser
// is needed. With GSLB_ARTEFACTS set to a folder the screenshots are kept there.
package page
