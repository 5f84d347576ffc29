package config

import "strings"

// Suggest gives the known word that the operator most likely meant by word, or "" when none is near:
// a third of the letters may be wrong, missing, added or swapped with a neighbour, and case does not
// count. Of equally near words the first wins.
func Suggest(word string, known []string) string {
	const longest = 64
	if word == "" || len(word) > longest {
		return ""
	}
	folded := strings.ToLower(word)
	best, least := "", max(1, len(word)/3)+1
	for _, k := range known {
		if gap := len(k) - len(word); len(k) > longest || gap >= least || -gap >= least {
			continue
		}
		if d := edits(folded, strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

// edits counts the least single-letter changes and swaps of neighbours that turn a into b.
func edits(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
