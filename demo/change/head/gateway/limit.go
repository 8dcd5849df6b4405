package gateway

import (
	"errors"
	"sync"
	"time"
)

// ErrBusy says that the carrier was asked often enough for now.
var ErrBusy = errors.New("carrier limit reached")

// Limit lets through a number of calls per second.
type Limit struct {
	mu    sync.Mutex
	rate  int
	used  int
	since time.Time
	now   func() time.Time
}

// NewLimit makes a limit of rate calls per second.
func NewLimit(rate int) *Limit {
	return &Limit{rate: rate, now: time.Now}
}

// Take reports whether one more call may be made.
func (l *Limit) Take() bool {
	l.mu.Lock()
	if now := l.now(); now.Sub(l.since) >= time.Second {
		l.since = now
		l.used = 0
	}
	if l.used >= l.rate {
		return false
	}
	l.used++
	l.mu.Unlock()
	return true
}

// Used reports how many calls this second has seen.
func (l *Limit) Used() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.used
}
