package health

// Ready says what on this machine keeps a kind of check from being made, with the key of its configuration that asks
// for it; "" stands for the kind itself. It tells an operator before the first probe of what would otherwise look like
// a failure of every endpoint.
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
