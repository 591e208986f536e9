// Plays a stream of wheelhouse on timers in Go. benches/FOREIGN.md describes the file and the
// protocol. A second file of this package has the timers: the type `handle` and the functions
// `reset`, `start`, `stop`, `move`, `settle` and `fireAll`.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math/bits"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	insert = iota
	cancel
	reschedule
	advance
)

type op struct {
	kind, label uint32
	tick        uint64
}

// A timer's handle and value, which a server keeps in its connection.
type slot struct {
	timer handle
	value uint64
}

var (
	slots    []slot
	inserted uint64
	checksum uint64
	firedSum uint64        // over the timers that have fired in this movement of the clock
	waiting  int64         // timers that have not fired yet
	allFired chan struct{} // closed by the last one
)

const factor = 0x9e3779b97f4a7c15

func add(word uint64) { checksum = (bits.RotateLeft64(checksum, 23) ^ word) * factor }

// delay is far in the future: no timer is due by itself.
func delay(tick uint64) time.Duration {
	return time.Hour + time.Duration(tick&(1<<42-1))*time.Millisecond
}

// fired is called by each timer, from any goroutine.
func fired(value uint64) {
	atomic.AddUint64(&firedSum, bits.RotateLeft64((value+1)*factor, 29))
	if atomic.AddInt64(&waiting, -1) == 0 {
		close(allFired)
	}
}

// play plays a phase and returns its time.
func play(ops []op) time.Duration {
	if len(ops) == 1 && ops[0].kind == advance {
		return fire()
	}
	begin := time.Now()
	for i := range ops {
		at := &slots[ops[i].label]
		switch ops[i].kind {
		case insert:
			value := inserted
			inserted++
			at.value = value
			at.timer = start(delay(ops[i].tick), func() { fired(value) })
		case cancel:
			if at.timer != nil && stop(at.timer) {
				add(at.value + 1)
			} else {
				add(0)
			}
			at.timer = nil
		case reschedule:
			if at.timer == nil {
				add(0)
				continue
			}
			at.timer = move(at.timer, delay(ops[i].tick))
			add(1)
		default:
			panic("this program runs on real time and cannot move its clock")
		}
	}
	settle() // deferred work is charged to the phase that defers it
	return time.Since(begin)
}

// expect prepares for this many timers to fire.
func expect(timers int) {
	waiting, firedSum, allFired = int64(timers), 0, make(chan struct{})
}

// processorTime returns the processor time of all threads so far.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// fire makes all live timers fire at once.
func fire() time.Duration {
	var live []handle
	for i := range slots {
		if slots[i].timer != nil {
			live = append(live, slots[i].timer)
		}
	}
	taken := fireAll(live)
	add(firedSum)
	slots = make([]slot, len(slots))
	return taken
}

func read(name string) (labels uint32, phases [][]op) {
	bytes, err := os.ReadFile(name)
	if err != nil || len(bytes) < 16 || string(bytes[:8]) != "whplay01" {
		panic(fmt.Sprint("not a stream of wheelhouse: ", name, err))
	}
	number := binary.LittleEndian.Uint32
	labels, phases = number(bytes[8:]), make([][]op, number(bytes[12:]))
	bytes = bytes[16:]
	for i := range phases {
		phases[i] = make([]op, number(bytes))
		bytes = bytes[4:]
		for j := range phases[i] {
			phases[i][j] = op{number(bytes), number(bytes[4:]), binary.LittleEndian.Uint64(bytes[8:])}
			bytes = bytes[16:]
		}
	}
	return labels, phases
}

func main() {
	runtime.GOMAXPROCS(1) // like the other rows, which run on one thread
	labels, phases := read(os.Args[1])
	fmt.Println("ready")
	next := 0
	for words := bufio.NewScanner(os.Stdin); words.Scan(); {
		if words.Text() == "play" {
			taken := play(phases[next])
			next++
			fmt.Printf("%d %x\n", taken.Nanoseconds(), checksum)
			continue
		}
		slots, inserted, checksum, next = make([]slot, labels), 0, 0xcbf29ce484222325, 0
		reset()
		runtime.GC()
		fmt.Println("ready")
	}
}
