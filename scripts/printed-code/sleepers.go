// Runs S2's 200,000 goroutines, each with a time.Sleep, and shows how late the last one wakes.
package main

import (
	"fmt"
	"sync"
	"time"
)

func main() {
	const sleepers = 200_000
	var all sync.WaitGroup
	late := make([]time.Duration, sleepers)
	all.Add(sleepers)
	for i := range late {
		go func(i int) {
			defer all.Done()
			wake := time.Now().Add(2 * time.Second)
			time.Sleep(time.Until(wake))
			late[i] = time.Since(wake)
		}(i)
	}
	all.Wait()
	var most time.Duration
	for _, it := range late {
		if it > most {
			most = it
		}
	}
	fmt.Printf("%s\t%.1f ms\n", "C24.latest", float64(most)/float64(time.Millisecond))
}
