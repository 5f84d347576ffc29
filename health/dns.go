package health

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// DNS asks a name server a question, over UDP, and again over TCP when the answer is truncated.
type DNS struct {
	Port  uint16
	Name  string // with a final dot
	Type  uint16
	Rcode int  // that the answer must have; 0: NOERROR
	Data  List // that records of the type and name, or where its CNAMEs lead, must hold, in the form of a master file
	TCP   bool // ask over TCP only
}

// String is the word of the config.
func (DNS) String() string { return "dns" }

func (d DNS) tell(add func(field, value string)) {
	add("port", number(d.Port))
	add("name", d.Name)
	add("type", number(d.Type))
	add("rcode", number(d.Rcode))
	for _, data := range d.Data.Texts() {
		add("answer", data)
	}
	add("tcp", truth(d.TCP))
}

func (d DNS) ask(v *visit) error {
	question := new(dns.Msg).SetQuestion(d.Name, d.Type)
	packed, err := question.Pack()
	if err != nil {
		return fault("the name of the check is not one")
	}
	if !d.TCP {
		answer, err := d.datagram(v, question, packed)
		if err != nil || !answer.Truncated {
			return d.judge(answer, err)
		}
	}
	return d.judge(d.stream(v, question, packed))
}

// strays is how many datagrams that answer something else are passed over: late ones of an earlier probe may
// come to the same port.
const strays = 8

// datagram asks over UDP.
func (d DNS) datagram(v *visit, question *dns.Msg, packed []byte) (*dns.Msg, error) {
	socket, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(v.at, d.Port)))
	if err != nil {
		return nil, err
	}
	conn := v.bound(socket)
	defer conn.Close()
	if _, err := conn.Write(packed); err != nil {
		return nil, err
	}
	room := make([]byte, 4096)
	for n := range strays {
		length, err := conn.Read(room)
		if err != nil && n > 0 && v.over() != nil {
			break
		}
		if err != nil {
			return nil, err
		}
		if answer, err := unpack(room[:length], question); err != errStray {
			return answer, err
		}
	}
	return nil, fault("bad response: to another question")
}

// stream asks over TCP (RFC 7766).
func (d DNS) stream(v *visit, question *dns.Msg, packed []byte) (*dns.Msg, error) {
	conn, err := v.dial(d.Port)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(packed))), packed...)); err != nil {
		return nil, err
	}
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return nil, err
	}
	room := make([]byte, binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(conn, room); err != nil {
		return nil, err
	}
	answer, err := unpack(room, question)
	if err == errStray {
		return nil, fault("bad response: to another question")
	}
	return answer, err
}

// errStray is what unpack says of an answer to another question.
var errStray = errors.New("stray answer")

// unpack reads an answer to the question.
func unpack(packed []byte, question *dns.Msg) (*dns.Msg, error) {
	if len(packed) >= 2 && binary.BigEndian.Uint16(packed) != question.Id {
		return nil, errStray
	}
	answer := new(dns.Msg)
	if answer.Unpack(packed) != nil || !answer.Response {
		return nil, fault("bad response: not DNS")
	}
	asked := question.Question[0]
	if len(answer.Question) == 1 && (!strings.EqualFold(answer.Question[0].Name, asked.Name) || answer.Question[0].Qtype != asked.Qtype) {
		return nil, errStray
	}
	return answer, nil
}

// judge says what of the answer is not as the check wants it.
func (d DNS) judge(answer *dns.Msg, err error) error {
	if err != nil {
		return err
	}
	if answer.Rcode != d.Rcode {
		return fault("rcode " + rcode(answer.Rcode))
	}
	var got []string
	for _, rr := range answer.Answer {
		if rr.Header().Rrtype == d.Type {
			got = append(got, data(rr))
		}
	}
	for _, want := range d.Data.Texts() {
		if !slices.ContainsFunc(got, func(has string) bool { return d.same(has, want) }) {
			return fault(fmt.Sprintf("answer lacks %s", quoted(want)))
		}
	}
	return nil
}

// same compares data. Names in it have no case (RFC 4343), and servers change theirs; texts have.
func (d DNS) same(has, want string) bool {
	return has == want || d.Type != dns.TypeTXT && strings.EqualFold(has, want)
}

// rcode names a response code.
func rcode(code int) string {
	if word, ok := dns.RcodeToString[code]; ok {
		return word
	}
	return fmt.Sprint(code)
}

// data is what a record holds, in the form of a master file.
func data(rr dns.RR) string { return strings.TrimPrefix(rr.String(), rr.Header().String()) }

// Question makes a check of DNS from the words of a config: the type and the code by their names, and data
// as a master file has it. The error names the key that is wrong.
func Question(name, qtype, code string, want []string) (d DNS, key string, err error) {
	var ok bool
	d.Name = dns.Fqdn(name)
	if d.Type, ok = dns.StringToType[qtype]; !ok {
		return d, "type", fmt.Errorf("%q is no type of records", qtype)
	}
	if d.Rcode, ok = dns.StringToRcode[code]; !ok {
		return d, "rcode", fmt.Errorf("%q is no response code", code)
	}
	var all []string
	for _, text := range want {
		rr, err := dns.NewRR(d.Name + " 0 IN " + qtype + " " + text)
		if err != nil || rr == nil {
			return d, "answer", fmt.Errorf("%q is not what a record of type %s holds", text, qtype)
		}
		all = append(all, data(rr))
	}
	d.Data = ListOf(all...)
	return d, "", nil
}
