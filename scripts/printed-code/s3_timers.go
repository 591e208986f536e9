// The wheel that S3 prints, as the timers of benches/foreign/play.go, with a tick of a millisecond
// and 20 slots per level.
package main

import "time"

type handle = *Timer

var wheel *TimingWheel

// The printed wheel begins at the system's time.
func reset() { wheel = NewTimingWheel(time.Millisecond, 20) }

func start(delay time.Duration, run func()) handle { return wheel.AfterFunc(delay, run) }

func stop(timer handle) bool { return timer.Stop() }

// The wheel has no call that moves a timer.
func move(timer handle, delay time.Duration) handle {
	timer.Stop()
	return wheel.AfterFunc(delay, timer.task)
}

func settle() {}

// fireAll moves the wheel from bucket to bucket, without waiting, until all timers have fired, and
// returns the processor time to the end of the last timer's function. The clock of the wheel is
// then ahead of the system's, so a new wheel is made.
func fireAll(timers []handle) time.Duration {
	expect(len(timers))
	begin := processorTime()
	for {
		if _, ok := wheel.next(); !ok {
			break
		}
	}
	<-allFired
	taken := processorTime() - begin
	reset()
	return taken
}
