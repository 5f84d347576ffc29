package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"gslb/dns/admin"
)

// door is where the name server can be asked how it stands.
type door struct{ address netip.AddrPort }

// askTime bounds one question to the server.
const askTime = 2 * time.Second

func (d door) status(ctx context.Context) (admin.Status, error) {
	return ask[admin.Status](ctx, d, "/v1/status", nil)
}

// events gives what happened at a time or later, oldest first.
func (d door) events(ctx context.Context, since time.Time) ([]admin.Event, error) {
	return ask[[]admin.Event](ctx, d, "/v1/events", url.Values{"since": {since.Format(time.RFC3339Nano)}})
}

// partners gives what the partners' sessions have brought.
func (d door) partners(ctx context.Context) ([]admin.Partner, error) {
	all, err := ask[admin.Partners](ctx, d, "/v1/partners", nil)
	return all.Partners, err
}

func (d door) explain(ctx context.Context, v viewer) (admin.Explanation, error) {
	return ask[admin.Explanation](ctx, d, "/v1/explain", url.Values{"name": {v.Name}, "client": {v.Client}, "type": {"A"}})
}

func ask[T any](ctx context.Context, d door, path string, query url.Values) (answer T, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	where := url.URL{Scheme: "http", Host: d.address.String(), Path: path, RawQuery: query.Encode()}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, where.String(), nil)
	if err != nil {
		return answer, err
	}
	direct := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // by no proxy
	response, err := direct.Do(request)
	if err != nil {
		return answer, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return answer, fmt.Errorf("%s answers %s", path, response.Status)
	}
	return answer, json.NewDecoder(response.Body).Decode(&answer)
}
