// Go's runtime timers: for each processor a heap with four children per node.
package main

import (
	"runtime"
	"sync/atomic"
	"time"
)

type handle = *time.Timer

func reset() {}

func start(delay time.Duration, run func()) handle { return time.AfterFunc(delay, run) }

func stop(timer handle) bool { return timer.Stop() }

func move(timer handle, delay time.Duration) handle {
	timer.Reset(delay)
	return timer
}

// settle yields, so that the scheduler removes stopped timers from its heap if they are a quarter.
func settle() { runtime.Gosched() }

// fireAll makes all timers due at one instant and keeps the processor busy until then; neither is
// timed. It returns the processor time from that instant to the end of the last timer's function.
// If a timer fires earlier, as on a busy machine, it retries with twice the delay.
func fireAll(timers []handle) time.Duration {
	for try := 0; try < 10; try++ {
		expect(len(timers))
		due := time.Now().Add((20*time.Millisecond + time.Duration(len(timers))*time.Microsecond) << try)
		for _, timer := range timers {
			timer.Reset(time.Until(due))
		}
		for !time.Now().After(due) {
		}
		begin := processorTime()
		early := atomic.LoadInt64(&waiting) < int64(len(timers))
		<-allFired
		if !early {
			return processorTime() - begin
		}
	}
	panic("timers fire before the last one is started; is the machine busy?")
}
