// Shows the output of the time layout in S2's session store.
package main

import (
	"fmt"
	"time"
)

func main() {
	at := time.Date(2018, 9, 11, 10, 11, 12, 345_000_000, time.UTC)
	fmt.Printf("%s\t%v\n", "B8.layout", at.Format("15:04:05:00"))
}
