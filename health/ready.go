package health

// Ready says what on this machine keeps a kind of check from being made, with the key of its config that
// asks for it; "" is the kind itself. It tells an operator before the first probe what would otherwise
// look like a failure of every endpoint.
func Ready(k Kind) (key string, err error) {
	switch k := k.(type) {
	case HTTP:
		return k.Trust.ready()
	case TLS:
		return k.Trust.ready()
	case GRPC:
		return k.Trust.ready()
	case ICMP:
		return k.ready()
	case Exec:
		return k.ready()
	}
	return "", nil
}
