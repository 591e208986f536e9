// Package clock has the two functions of github.com/alex023/clock that S2's session store calls, so
// that the listing can be compiled. They do nothing.
package clock

import "time"

// Clock stands for the clock, which runs jobs.
type Clock struct{}

// AddJobWithTimeout stands for the function that adds a job.
func (*Clock) AddJobWithTimeout(time.Duration, func()) (job uint64, added bool) { return }

// UpdateJobTimeout stands for the function that moves a job.
func (*Clock) UpdateJobTimeout(any, time.Duration) (updated bool) { return }
