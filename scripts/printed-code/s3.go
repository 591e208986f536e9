// Tests of the wheel that S3 prints. s3_missing.go has the parts that the article does not print.
package main

import (
	"fmt"
	"os"
	"printed/delayqueue"
	"runtime"
	"sync/atomic"
	"time"
)

func show(key string, value any) { fmt.Printf("%s\t%v\n", key, value) }

// where returns the level and the slot of a timer; zeros if it is in no slot.
func where(tw *TimingWheel, t *Timer) (level, slot int) {
	b := (*bucket)(t.b)
	for level = 1; tw != nil; level++ {
		for i := range tw.buckets {
			if b == tw.buckets[i] {
				return level, i
			}
		}
		tw = (*TimingWheel)(tw.overflowWheel)
	}
	return 0, 0
}

// life adds a timer and drives the wheel until it runs. It returns its places and its expiry.
func life(tw *TimingWheel, expiration int64) (places []string, ran int64) {
	ran = -1
	done := make(chan struct{})
	t := &Timer{expiration: expiration, task: func() { close(done) }}
	tw.addOrRun(t)
	for {
		if level, slot := where(tw, t); level > 0 {
			places = append(places, fmt.Sprintf("L%d[%d]", level, slot))
		}
		expiry, ok := tw.next()
		if !ok {
			<-done
			return places, ran
		}
		ran = expiry
	}
}

func wheel(tick, size, start int64) *TimingWheel {
	return newTimingWheel(tick, size, start, delayqueue.New(int(size)))
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "panic" {
		wheel(1000, 10, 0).addOrRun(&Timer{task: func() { panic("a task failed") }})
		time.Sleep(time.Second) // The process ends long before.
		os.Exit(0)
	}
	tw := wheel(1000, 10, 0)
	places, ran := life(tw, 15000)
	show("E9.15-s", fmt.Sprint(places, " ran at ", ran, " offers ", tw.queue.Offers))

	var least, sum int64
	for ms := int64(0); ms < 1000; ms++ {
		_, ran := life(wheel(1000, 10, 0), 5000+ms)
		early := 5000 + ms - ran
		sum += early
		if early > least {
			least = early
		}
	}
	show("B9.earliest-ms", least)
	show("B9.mean-ms", float64(sum)/1000)

	tw = wheel(1, 20, 0)
	places, ran = life(tw, 3600*1000+5)
	show("B10.idle-hour", fmt.Sprint(places, " offers ", tw.queue.Offers))

	for _, ms := range []int64{1200, 1500} {
		_, ran := life(wheel(1000, 10, 0), ms)
		show(fmt.Sprintf("C39.%d-ms", ms), ran)
	}
	show("C45.time-after", lateTime())

	tw = wheel(1000, 10, 0)
	show("C38.0-ms", said1(tw, 0))
	show("C38.999-ms", said1(tw, 999))
	show("C38.1000-ms", said1(tw, 1000))
	runtime.Gosched()
}

// lateTime runs the printed Start. A bucket that is due at 2 s arrives at the system's time,
// decades later. It returns which of the two times the wheel has then.
func lateTime() string {
	tw := wheel(1000, 10, 0)
	done := make(chan struct{})
	tw.add(&Timer{expiration: 2000, task: func() { close(done) }})
	first, _ := tw.queue.First()
	tw.Start()
	tw.queue.C <- first
	<-done
	if atomic.LoadInt64(&tw.currentTime) == 2000 {
		return "the expiry of the slot"
	}
	return "the time of the clock"
}

func said1(tw *TimingWheel, expiration int64) string {
	if tw.add(&Timer{expiration: expiration, task: func() {}}) {
		return "waits"
	}
	return "runs at once"
}
