package config

// merge adds a drop-in to the tree of the files before it: mappings merge at every depth, the items of
// drains follow one another, and nothing else may be given twice.
func merge(into, from *node) Problems {
	switch {
	case from.shape == isNothing || from.shape == unread:
		return nil
	case into.shape == isNothing || into.shape == unread:
		into.shape, into.text, into.at = from.shape, from.text, from.at
		if into.parent != nil { // the root stays that of the main file
			into.file, into.key = from.file, from.key
		}
		into.adopt(from.children)
		return nil
	case into.shape == isMapping && from.shape == isMapping:
		return mergeMappings(into, from)
	case into.path() == "drains" && into.shape == isList && from.shape == isList:
		for _, item := range from.children {
			item.parent, item.item = into, int32(len(into.children))
			into.children = append(into.children, item)
		}
		return nil
	}
	return Problems{{Pos: from.keyPos(), Path: into.path(), Message: "is given twice: first at " + into.keyPos().String()}}
}

func mergeMappings(into, from *node) Problems {
	var problems Problems
	known := make(map[string]*node, len(into.children))
	for _, c := range into.children {
		known[c.name] = c
	}
	for _, c := range from.children {
		if first := known[c.name]; first != nil {
			problems = append(problems, merge(first, c)...)
			continue
		}
		into.adopt([]*node{c})
	}
	return problems
}
