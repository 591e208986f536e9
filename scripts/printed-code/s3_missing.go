// The parts of S3's wheel that the article does not print.
//
// The small methods of buckets, truncate, timeToMs and Stop are not in the article's text. They are
// written here to fit the printed functions. The printed Start waits for a clock. Here `next` takes
// the first bucket of the queue as if it were due, and calls the printed advanceClock and Flush, as
// Start does.
package main

import (
	"container/list"
	"errors"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

type waitGroupWrapper struct{ sync.WaitGroup }

func (w *waitGroupWrapper) Wrap(act func()) {
	w.Add(1)
	go func() { defer w.Done(); act() }()
}

func truncate(x, m int64) int64     { return x - x%m }
func timeToMs(t time.Time) int64    { return t.UnixNano() / int64(time.Millisecond) }
func newBucket() *bucket            { return &bucket{expiration: -1, timers: list.New()} }
func (b *bucket) Expiration() int64 { return atomic.LoadInt64(&b.expiration) }
func (b *bucket) SetExpiration(e int64) bool {
	return atomic.SwapInt64(&b.expiration, e) != e
}
func (b *bucket) Add(t *Timer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t.element = b.timers.PushBack(t)
	atomic.StorePointer(&t.b, unsafe.Pointer(b))
}
func (b *bucket) remove(t *Timer) {
	b.timers.Remove(t.element)
	t.element = nil
	atomic.StorePointer(&t.b, nil)
}

// Stop removes the timer from its bucket, and returns true if it was in one.
func (t *Timer) Stop() bool {
	for {
		b := (*bucket)(atomic.LoadPointer(&t.b))
		if b == nil {
			return false
		}
		b.mu.Lock()
		found := atomic.LoadPointer(&t.b) == unsafe.Pointer(b)
		if found {
			b.remove(t)
		}
		b.mu.Unlock()
		if found {
			return true
		}
	}
}

// next moves the wheel to the expiry of its first bucket, if any, and returns that expiry.
func (tw *TimingWheel) next() (expiry int64, ok bool) {
	first, ok := tw.queue.First()
	if !ok {
		return 0, false
	}
	b := first.(*bucket)
	expiry = b.Expiration()
	tw.advanceClock(expiry)
	b.Flush(tw.addOrRun)
	return expiry, true
}

var _ = errors.New
