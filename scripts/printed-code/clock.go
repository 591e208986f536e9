// Package clock has the two calls that S2's session store makes of github.com/alex023/clock, so
// that the compiler can say what it makes of the listing. It does nothing.
package clock

import "time"

// Clock would run jobs.
type Clock struct{}

// AddJobWithTimeout would add one.
func (*Clock) AddJobWithTimeout(time.Duration, func()) (job uint64, added bool) { return }

// UpdateJobTimeout would move one.
func (*Clock) UpdateJobTimeout(any, time.Duration) (updated bool) { return }
