// The parts of S0's wheel that the article does not print, and the tests of the printed parts.
//
// The struct, its default size, incrCurrentSlot and removeTask are not in the article's text. They
// are written here to fit the printed functions. A tick is a call of the printed `execute`, so that
// no test waits for a clock.
package main

import (
	"container/list"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sort"
	"sync"
	"time"
)

// DefaultSlotNum is not printed; the text says 12.
const DefaultSlotNum = 12

// XTimeWheel has the fields that the printed functions use.
type XTimeWheel struct {
	interval     time.Duration
	currentSlot  int
	slotNum      int
	slots        []*list.List
	taskRecords  sync.Map
	ticker       *time.Ticker
	stopCh       chan struct{}
	removeTaskCh chan string
	addTaskCh    chan *Task
	isRun        bool
	mux          sync.Mutex
}

func (t *XTimeWheel) incrCurrentSlot() { t.currentSlot = (t.currentSlot + 1) % t.slotNum }
func (t *XTimeWheel) removeTask(string) {}

var _ = errors.New

// wheel returns a wheel without a clock: only `execute` moves it.
func wheel(interval time.Duration, slots, cursor int) *XTimeWheel {
	t := &XTimeWheel{interval: interval, slotNum: slots, currentSlot: cursor}
	for i := 0; i < slots; i++ {
		t.slots = append(t.slots, list.New())
	}
	return t
}

// fires adds tasks and returns the ticks at which they ran, once for each run.
func fires(t *XTimeWheel, tasks []*Task, ticks int) []int {
	var mux sync.Mutex
	var at []int
	for i, task := range tasks {
		task.key = fmt.Sprint(i)
		t.addTask(task)
	}
	for tick := 1; tick <= ticks; tick++ {
		alone := runtime.NumGoroutine()
		now := tick
		for _, task := range tasks {
			task.job = func(string) { mux.Lock(); at = append(at, now); mux.Unlock() }
		}
		t.execute()
		// The printed code runs each job in a separate goroutine.
		for runtime.NumGoroutine() > alone {
			runtime.Gosched()
		}
	}
	sort.Ints(at)
	return at
}

func task(seconds float64, times int) *Task {
	return &Task{executeAt: time.Duration(seconds * float64(time.Second)), times: times}
}

func show(key string, value any) { fmt.Printf("%s\t%v\n", key, value) }

// place returns the slot and the circle that the printed code computes.
func place(interval time.Duration, cursor int, delay time.Duration) string {
	slot, circle := wheel(interval, 12, cursor).calSlotAndCircle(delay)
	return fmt.Sprintf("slot %d circle %d", slot, circle)
}

// said returns the message of an error or panic.
func said(act func() error) (message string) {
	defer func() {
		if it := recover(); it != nil {
			message = fmt.Sprint("panic: ", it)
		}
	}()
	if err := act(); err != nil {
		return err.Error()
	}
	return "accepted"
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "panic" {
		one := task(1, 1)
		one.job = func(string) { panic("a task failed") }
		t := wheel(time.Second, 12, 0)
		t.addTask(one)
		t.execute()
		t.execute()
		time.Sleep(time.Second) // The process ends long before.
		os.Exit(0)
	}
	second := time.Second
	four := []*Task{task(5, 1), task(5, 1), task(5, 1), task(5, 1)}
	show("B1.ticks", fires(wheel(second, 12, 0), four, 60))
	show("B2.period-12", fires(wheel(second, 12, 0), []*Task{task(12, -1)}, 70))
	show("B2.period-24", fires(wheel(second, 12, 0), []*Task{task(24, -1)}, 70))
	show("B3.sub-second", said(func() error { place(second/2, 0, 5*second); return nil }))
	made := func(interval time.Duration, slots int) string {
		return said(func() error { _, err := NewXTimingWheel(interval, slots); return err })
	}
	show("B3.sub-second-made", made(second/2, 12))
	same := place(second, 0, 1999*time.Millisecond) == place(second, 0, second)
	show("B3.1999-ms", same)
	show("B3.interval-1500-ms", place(1500*time.Millisecond, 0, 15*second))
	for _, times := range []int{-2, -1, 0, 1} {
		runs := fires(wheel(second, 12, 0), []*Task{task(5, times)}, 120)
		show(fmt.Sprintf("B7.times%d", times), len(runs))
	}
	show("E2.tick-16", fires(wheel(second, 12, 0), []*Task{task(16, 1)}, 60))
	show("C11.interval", made(0, 12))
	nothing := func(string) {}
	add := func(key string, delay time.Duration) string {
		return said(func() error { return wheel(second, 12, 0).AddTask(key, nothing, delay, 1) })
	}
	show("C11.key", add("", 5*second))
	show("C11.delay", add("a", second/2))
	show("B4.after-stop", afterStop())
	show("B4.two-of-one-key", twoOfOneKey())
}

// afterStop checks AddTask after the printed loop has ended.
func afterStop() string {
	t, _ := NewXTimingWheel(time.Hour, 12)
	t.stopCh <- struct{}{}
	added := make(chan error)
	go func() { added <- t.AddTask("late", func(string) {}, time.Hour, 1) }()
	select {
	case <-added:
		return "returns"
	case <-time.After(300 * time.Millisecond):
		return "blocks"
	}
}

// twoOfOneKey counts the waiting tasks if two callers look up a key before either is stored.
func twoOfOneKey() string {
	t, _ := NewXTimingWheel(time.Hour, 12)
	t.stopCh <- struct{}{}
	add := func() { _ = t.AddTask("one", func(string) {}, time.Hour, 1) }
	go add()
	go add()
	// Instead of the printed loop, which has ended: store the tasks from the channel.
	first, second := <-t.addTaskCh, <-t.addTaskCh
	t.addTask(first)
	t.addTask(second)
	waiting := 0
	for _, slot := range t.slots {
		waiting += slot.Len()
	}
	return fmt.Sprint(waiting, " wait")
}
