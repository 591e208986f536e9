// What S2 does not print of its session store, so that what it prints can be given to the compiler;
// and what its layout of a time shows.
package main

import (
	"fmt"
	"time"
)

func main() {
	at := time.Date(2018, 9, 11, 10, 11, 12, 345_000_000, time.UTC)
	fmt.Printf("%s\t%v\n", "B8.layout", at.Format("15:04:05:00"))
}
