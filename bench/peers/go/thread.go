// SPDX-License-Identifier: MIT
//
// System calls that block and goroutines that compute: what entering and leaving one costs, and whether timers keep
// going. The counterpart of bench/weft/thread.c. The pair is what the runtime itself does around every system call and
// cgo call; it has no public name, so it is linked by its private one, which the compiler allows in files that use cgo.
package main

import "C"
import (
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	_ "unsafe" // for go:linkname
)

const (
	pairs        = 10000000
	warmUp       = 100000
	sleeperCount = 1000
	nap          = 10 * time.Millisecond
	taken        = 2 * time.Second
)

//go:linkname entersyscall runtime.entersyscall
func entersyscall()

//go:linkname exitsyscall runtime.exitsyscall
func exitsyscall()

// Between the two the stack must not grow.
//
//go:nosplit
func enterAndLeave() {
	entersyscall()
	exitsyscall()
}

func blockingPairs(n int) int64 {
	start := now()
	for i := 0; i < n; i++ {
		enterAndLeave()
	}
	return now() - start
}

func pair(string) {
	blockingPairs(warmUp)
	report("blocking.pair", "", float64(blockingPairs(pairs))/pairs, "ns")
}

var asleep, takersLeft int64

func sleepAgain(worst *int64) {
	for isFirst := true; isFirst || atomic.LoadInt64(&takersLeft) > 0; isFirst = false {
		due := now() + int64(nap)
		if isFirst {
			atomic.AddInt64(&asleep, 1)
		}
		time.Sleep(nap)
		if late := now() - due; late > *worst {
			*worst = late
		}
	}
}

func block() {
	left := syscall.NsecToTimespec(int64(taken))
	for syscall.Nanosleep(&left, &left) == syscall.EINTR {
	}
}

func compute() {
	for end := now() + int64(taken); now() < end; {
	}
}

// A P that was taken only after another was free again would make the figure a lie.
func checkOverlap(begun []int64) {
	for _, at := range begun {
		if at-begun[0] > int64(taken)/2 || begun[0]-at > int64(taken)/2 {
			fail("the Ps were not taken at the same time")
		}
	}
}

func timeSleeps(row string, take func()) {
	n := runtime.GOMAXPROCS(0)
	lateness, begun := make([]int64, sleeperCount), make([]int64, n)
	var all sync.WaitGroup
	takersLeft = int64(n)
	all.Add(sleeperCount + n)
	for i := range lateness {
		go func(worst *int64) {
			sleepAgain(worst)
			all.Done()
		}(&lateness[i])
	}
	for atomic.LoadInt64(&asleep) < sleeperCount {
		runtime.Gosched()
	}
	for i := range begun {
		go func(at *int64) {
			*at = now()
			take()
			atomic.AddInt64(&takersLeft, -1)
			all.Done()
		}(&begun[i])
	}
	all.Wait()
	checkOverlap(begun)
	report(row, "", float64(percentile(lateness, 1))/1e6, "ms")
}

func blockingTimers(string) { timeSleeps("blocking.timers", block) }
func hogTimers(string)      { timeSleeps("hog.timers", compute) }

func main() {
	benchMain([]bench{{"pair", pair}, {"blocking_timers", blockingTimers}, {"hog_timers", hogTimers}})
}
