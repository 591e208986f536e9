// Package delayqueue stands in for the one that S3 imports and does not print: elements by their
// expiry. Nothing waits; who drives the wheel takes the first element and sets the time to its
// expiry.
package delayqueue

import "container/heap"

type item struct {
	value  any
	expiry int64
}

type items []item

func (q items) Len() int           { return len(q) }
func (q items) Less(i, j int) bool { return q[i].expiry < q[j].expiry }
func (q items) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *items) Push(x any)        { *q = append(*q, x.(item)) }
func (q *items) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}

// DelayQueue holds elements until their expiry.
type DelayQueue struct {
	// C is read by the printed Start, which nothing here calls.
	C      chan any
	Offers int
	queue  items
}

// New makes an empty one.
func New(int) *DelayQueue { return &DelayQueue{C: make(chan any)} }

// Offer puts an element in.
func (q *DelayQueue) Offer(value any, expiry int64) {
	q.Offers++
	heap.Push(&q.queue, item{value, expiry})
}

// First takes the earliest element out.
func (q *DelayQueue) First() (any, bool) {
	if len(q.queue) == 0 {
		return nil, false
	}
	return heap.Pop(&q.queue).(item).value, true
}

// Poll is there for the printed Start.
func (q *DelayQueue) Poll(chan struct{}, func() int64) {}
