// Times the packages that S2 names: alex023/clock, and the red-black tree that it uses, against
// Go's container/heap. Each figure is the median of five rounds.
package main

import (
	"container/heap"
	"fmt"
	"math/rand"
	"sort"
	"time"

	"github.com/HuKeping/rbtree"
	"github.com/alex023/clock"
)

const rounds = 5

func median(round func() float64) float64 {
	figures := make([]float64, rounds)
	for i := range figures {
		figures[i] = round()
	}
	sort.Float64s(figures)
	return figures[rounds/2]
}

// nanoseconds returns the time of one of `count` calls.
func nanoseconds(count int, act func(i int)) float64 {
	begin := time.Now()
	for i := 0; i < count; i++ {
		act(i)
	}
	return float64(time.Since(begin).Nanoseconds()) / float64(count)
}

// later returns a random time to wait, so long that nothing runs here.
func later() time.Duration { return time.Hour + time.Duration(rand.Int63n(int64(time.Hour))) }

// clockWith returns a clock with pending jobs.
func clockWith(pending int) (*clock.Clock, []clock.Job) {
	it, jobs := clock.NewClock(), make([]clock.Job, pending)
	for i := range jobs {
		jobs[i], _ = it.AddJobWithInterval(later(), func() {})
	}
	return it, jobs
}

func additions(pending int) float64 {
	it, _ := clockWith(pending)
	return nanoseconds(50_000, func(int) { it.AddJobWithInterval(later(), func() {}) })
}

func updates(pending int) float64 {
	it, jobs := clockWith(pending)
	return nanoseconds(50_000, func(int) {
		it.UpdateJobTimeout(jobs[rand.Intn(pending)], later())
	})
}

type task struct{ at, id int64 }

func (it *task) Less(than rbtree.Item) bool { return it.before(than.(*task)) }
func (it *task) before(than *task) bool {
	return it.at < than.at || it.at == than.at && it.id < than.id
}

type queue []*task

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].before(q[j]) }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(*task)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// treeOverHeap returns how many times the heap's time the tree takes to remove the first of n tasks
// and add one.
func treeOverHeap(n int64) float64 {
	const turns = 200_000
	tree, q := rbtree.New(), queue{}
	for id := int64(0); id < n; id++ {
		at := rand.Int63n(n)
		tree.Insert(&task{at, id})
		heap.Push(&q, &task{at, id})
	}
	ofTree := nanoseconds(turns, func(int) {
		first := tree.Min().(*task)
		tree.Delete(first)
		tree.Insert(&task{first.at + rand.Int63n(n), first.id})
	})
	ofHeap := nanoseconds(turns, func(int) {
		first := heap.Pop(&q).(*task)
		heap.Push(&q, &task{first.at + rand.Int63n(n), first.id})
	})
	return ofTree / ofHeap
}

func main() {
	show := func(key, format string, figure float64) {
		fmt.Printf("%s\t"+format+"\n", key, figure)
	}
	added := median(func() float64 { return additions(500_000) })
	updated := median(func() float64 { return updates(500_000) })
	show("C22.additions", "%.0f a second", 1e9/added)
	show("C22.updates", "%.0f a second", 1e9/updated)
	show("C22.addition-time", "%.1f us", added/1e3)
	show("C22.update-time", "%.1f us", updated/1e3)
	updated = median(func() float64 { return updates(200_000) })
	show("C29.updates", "%.0f a second", 1e9/updated)
	for _, n := range []int64{1_000, 100_000} {
		times := median(func() float64 { return treeOverHeap(n) })
		show(fmt.Sprintf("C29.tree-%d", n), "%.2f times the heap's time", times)
	}
}
