// SPDX-License-Identifier: MIT
//
// The work pool's rows by Go: submission, fork-join, tree search, parallel for, waking an idle pool. Same work as
// bench/weft/pool.c; the first part is a translation of bench/shared/pool_work.h.
//
// Go has no pool. A row is written both ways that are usual, a goroutine for each work and a fixed number of goroutines
// that take functions from a channel, and the better one is reported. Submitters are goroutines, since Go has no
// threads outside its scheduler; only "wake" locks its submitter to a thread, which pauses in a system call.
package main

import (
	"fmt"
	"math"
	"math/bits"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
)

const (
	works       = 1000000
	waiting     = 1024   // functions that the channel holds
	fibArgument = 27     // not 32 as elsewhere, where a pass takes 3 s
	fibValue    = 196418 // the result
	fibForks    = 317810 // calls that fork
	treeDepth   = 13
	treeRoot    = 15
	treeNodes   = 3896480
	small       = 10000000
	large       = 10000
	largeSteps  = 2400
	passes      = 5
	wakes       = 1000
	wakesWarmUp = 50
	wakePauseNs = 2000000
	odd         = 0x9e3779b97f4a7c15
	lowerOfPair = 0x5555555555555555
)

func mix(x uint64) uint64 {
	x = (x ^ x>>32) * odd
	x = (x ^ x>>29) * odd
	return x ^ x>>32
}

func treeChild(node uint64, index int) uint64 { return mix(node + odd*uint64(index+1)) }

func treeChildren(node uint64, depth int) int {
	if depth >= treeDepth {
		return 0
	}
	zeroPairs := ^(node | node>>1) & lowerOfPair
	return bits.TrailingZeros64(zeroPairs) / 2
}

func smallRange(first, end uint64) (sum uint64) {
	for i := first; i < end; i++ {
		sum += mix(mix(mix(i)))
	}
	return
}

func largeRange(first, end uint64) (sum uint64) {
	for i := first; i < end; i++ {
		value := i
		for step := 0; step < largeSteps; step++ {
			value = mix(value + odd)
		}
		sum += value
	}
	return
}

type way struct {
	name string
	pass func() int64 // the nanoseconds it took
}

// The row is the best pass of the best way; what each takes, per one of n, goes to the side.
func best(row string, n int, unitNs float64, unit string, ways ...way) {
	least := math.Inf(1)
	for _, one := range ways {
		shortest := int64(math.MaxInt64)
		one.pass()
		for i := 0; i < passes; i++ {
			if took := one.pass(); took < shortest {
				shortest = took
			}
		}
		each := float64(shortest) / float64(n) / unitNs
		fmt.Fprintf(os.Stderr, "%s by %s: %.3f %s\n", row, one.name, each, unit)
		least = math.Min(least, each)
	}
	report(row, "", least, unit)
}

// A fixed number of goroutines that run functions from a channel.
func startWorkers() chan func() {
	queue := make(chan func(), waiting)
	for i := 0; i < runtime.GOMAXPROCS(0); i++ {
		go func() {
			for work := range queue {
				work()
			}
		}()
	}
	return queue
}

func submit(row string, submitters int) {
	queue := startWorkers()
	var left sync.WaitGroup
	done := func() { left.Done() }
	pass := func(submitOne func()) int64 {
		left.Add(works)
		start := now()
		for i := 0; i < submitters; i++ {
			go func() {
				for j := 0; j < works/submitters; j++ {
					submitOne()
				}
			}()
		}
		left.Wait()
		return now() - start
	}
	best(row, works, 1, "ns",
		way{"a goroutine each", func() int64 { return pass(func() { go done() }) }},
		way{"a channel", func() int64 { return pass(func() { queue <- done }) }})
}

func fibFork(n int) int {
	if n < 2 {
		return n
	}
	var left int
	var join sync.WaitGroup
	join.Add(1)
	go func() {
		left = fibFork(n - 1)
		join.Done()
	}()
	right := fibFork(n - 2)
	join.Wait()
	return left + right
}

func fibChannel(n int) int {
	if n < 2 {
		return n
	}
	left := make(chan int, 1)
	go func() { left <- fibChannel(n - 1) }()
	right := fibChannel(n - 2)
	return right + <-left
}

func fib(string) {
	pass := func(fork func(int) int) func() int64 {
		return func() int64 {
			start := now()
			if fork(fibArgument) != fibValue {
				fail("wrong sum")
			}
			return now() - start
		}
	}
	best("pool.fib", fibForks, 1, "ns", way{"a WaitGroup each", pass(fibFork)}, way{"a channel each", pass(fibChannel)})
}

func treeJoined(node uint64, depth int) int64 {
	children := treeChildren(node, depth)
	if children == 0 {
		return 1
	}
	var join sync.WaitGroup
	var sum int64
	join.Add(children - 1)
	for i := 0; i < children-1; i++ {
		go func(child uint64) {
			atomic.AddInt64(&sum, treeJoined(child, depth+1))
			join.Done()
		}(treeChild(node, i))
	}
	last := treeJoined(treeChild(node, children-1), depth+1)
	join.Wait()
	return 1 + last + sum
}

func tree(string) {
	best("pool.tree", treeNodes, 1, "ns", way{"a goroutine for each child but the last", func() int64 {
		start := now()
		if treeJoined(mix(treeRoot), 0) != treeNodes {
			fail("wrong number of nodes")
		}
		return now() - start
	}})
}

// One stretch for each processor.
func forRange(row string, n int, unitNs float64, unit string, body func(first, end uint64) uint64) {
	expected := body(0, uint64(n))
	best(row, n, unitNs, unit, way{"a stretch for each processor", func() int64 {
		parts := runtime.GOMAXPROCS(0)
		var sum uint64
		var join sync.WaitGroup
		join.Add(parts)
		start := now()
		for i := 0; i < parts; i++ {
			go func(first, end int) {
				atomic.AddUint64(&sum, body(uint64(first), uint64(end)))
				join.Done()
			}(n*i/parts, n*(i+1)/parts)
		}
		join.Wait()
		took := now() - start
		if sum != expected {
			fail("wrong sum")
		}
		return took
	}})
}

func pause() { syscall.Nanosleep(&syscall.Timespec{Nsec: wakePauseNs}, nil) }

func wake(string) {
	runtime.LockOSThread()
	queue := startWorkers()
	delay := make([]int64, wakes)
	var started int64
	for i := -wakesWarmUp; i < wakes; i++ {
		atomic.StoreInt64(&started, 0)
		pause()
		submitted := now()
		queue <- func() { atomic.StoreInt64(&started, now()) }
		for atomic.LoadInt64(&started) == 0 {
			pause()
		}
		if i >= 0 {
			delay[i] = started - submitted
		}
	}
	report("pool.wake.p50", "", float64(percentile(delay, 0.50))/1e3, "us")
	report("pool.wake.p99", "", float64(percentile(delay, 0.99))/1e3, "us")
}

// Stays, once the works it had have run; bench/run watches from outside.
func idle(string) {
	queue := startWorkers()
	var left sync.WaitGroup
	left.Add(works)
	for i := 0; i < works; i++ {
		queue <- left.Done
	}
	left.Wait()
	fmt.Println("ready")
	for {
		syscall.Pause()
	}
}

func main() {
	benchMain([]bench{
		{"submit1", func(string) { submit("pool.submit1", 1) }},
		{"submit4", func(string) { submit("pool.submit4", 4) }},
		{"fib", fib},
		{"tree", tree},
		{"for_small", func(string) { forRange("pool.for_small", small, 1, "ns", smallRange) }},
		{"for_large", func(string) { forRange("pool.for_large", large, 1e3, "us", largeRange) }},
		{"wake", wake},
		{"idle", idle},
	})
}
