// Package delayqueue replaces the package that S3 imports and does not print: a queue of elements
// by expiry. It does not wait: the program takes the first element and sets the time to its expiry.
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
	// C is read by the printed Start.
	C      chan any
	Offers int
	queue  items
}

// New returns an empty queue.
func New(int) *DelayQueue { return &DelayQueue{C: make(chan any)} }

// Offer inserts an element.
func (q *DelayQueue) Offer(value any, expiry int64) {
	q.Offers++
	heap.Push(&q.queue, item{value, expiry})
}

// First removes the earliest element.
func (q *DelayQueue) First() (any, bool) {
	if len(q.queue) == 0 {
		return nil, false
	}
	return heap.Pop(&q.queue).(item).value, true
}

// Poll is called by the printed Start.
func (q *DelayQueue) Poll(chan struct{}, func() int64) {}
