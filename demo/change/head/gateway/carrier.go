// Package gateway talks to the carriers.
package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
)

// Client asks one carrier.
type Client struct {
	base  string
	http  *http.Client
	limit *Limit
}

// Event is one update of a parcel.
type Event struct {
	Parcel string `json:"parcel"`
	Status string `json:"status"`
}

// Events returns the updates of a parcel, oldest first.
func (c *Client) Events(parcel string) ([]Event, error) {
	if !c.limit.Take() {
		return nil, ErrBusy
	}
	resp, err := c.http.Get(c.base + "/parcels/" + url.PathEscape(parcel) + "/events")
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", parcel, err)
	}
	defer resp.Body.Close()
	var events []Event
	if err := json.NewDecoder(resp.Body).Decode(&events); err != nil {
		return nil, fmt.Errorf("read events of %s: %w", parcel, err)
	}
	return events, nil
}

// Announce tells the carrier about a new parcel.
func (c *Client) Announce(parcel string, weightGrams int) error {
	body, err := json.Marshal(map[string]any{"parcel": parcel, "weight": weightGrams})
	if err != nil {
		return fmt.Errorf("announce %s: %w", parcel, err)
	}
	resp, err := c.http.Post(c.base+"/parcels", "application/json", bytes.NewReader(body))
	defer resp.Body.Close()
	if err != nil {
		return fmt.Errorf("announce %s: %w", parcel, err)
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("announce %s: the carrier answered %d", parcel, resp.StatusCode)
	}
	return nil
}
