// SPDX-License-Identifier: MIT
//
// What a parked goroutine costs: bytes, the time to make it, and what an idle runtime does. Same work as
// bench/weft/memory.c. Goroutines park in a receive from a channel, Go's cheapest way to wait for ever.
package main

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

const idleParked = 10000

var (
	block   = make(chan struct{})
	started int64
)

func park() {
	atomic.AddInt64(&started, 1)
	<-block
}

func parkMany(n int) {
	for i := 0; i < n; i++ {
		go park()
	}
	for atomic.LoadInt64(&started) < int64(n) {
		runtime.Gosched()
	}
}

func mem(suffix string) {
	n := count(suffix)
	before := memoryBytes()
	start := now()
	parkMany(n)
	took := now() - start
	report("mem", suffix, float64(memoryBytes()-before)/float64(n), "B")
	report("memspawn", suffix, float64(took)/float64(n), "ns")
}

func idle(string) {
	time.AfterFunc(time.Hour, func() { close(block) })
	parkMany(idleParked)
	fmt.Println("ready")
	<-block
}

func main() { benchMain([]bench{{"mem", mem}, {"idle", idle}}) }
