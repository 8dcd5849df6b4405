// Package gateway talks to the carriers.
package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// Client asks one carrier.
type Client struct {
	base string
	http *http.Client
}

// Event is one update of a parcel.
type Event struct {
	Parcel string `json:"parcel"`
	Status string `json:"status"`
}

// Events returns the updates of a parcel, oldest first.
func (c *Client) Events(parcel string) ([]Event, error) {
	resp, err := c.http.Get(c.base + "/parcels/" + parcel + "/events")
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
