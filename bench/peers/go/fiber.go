// SPDX-License-Identifier: MIT
//
// The cost of goroutines themselves: Gosched, go and wait, a million at once, the skynet tree. Same work as
// bench/weft/fiber.c. One goroutine is joined through a channel that serves for all, a batch by a WaitGroup: the
// cheapest way of each. skynet is the classic program with channels.
package main

import (
	"runtime"
	"strconv"
	"sync"
)

const (
	yields    = 2000000
	joins     = 1000000
	warmUp    = 100000
	batch     = 1000000
	leaves    = 1000000
	branches  = 10
	leavesSum = 499999500000
)

func yieldPair(n int) int64 {
	var group sync.WaitGroup
	start := now()
	group.Add(2)
	for side := 0; side < 2; side++ {
		go func() {
			for i := 0; i < n; i++ {
				runtime.Gosched()
			}
			group.Done()
		}()
	}
	group.Wait()
	return now() - start
}

func yield(suffix string) {
	yieldPair(warmUp)
	report("yield", suffix, float64(yieldPair(yields))/(2*yields), "ns")
}

func spawnAndJoin(n int) int64 {
	ended := make(chan struct{})
	start := now()
	for i := 0; i < n; i++ {
		go func() { ended <- struct{}{} }()
		<-ended
	}
	return now() - start
}

func spawnJoin(suffix string) {
	spawnAndJoin(warmUp)
	report("spawn_join", suffix, float64(spawnAndJoin(joins))/joins, "ns")
}

func spawnAllJoinAll(n int) int64 {
	var group sync.WaitGroup
	start := now()
	group.Add(n)
	for i := 0; i < n; i++ {
		go func() { group.Done() }()
	}
	group.Wait()
	return now() - start
}

func spawnBatch(suffix string) {
	report("spawn_batch.cold", suffix, float64(spawnAllJoinAll(batch))/batch, "ns")
	report("spawn_batch.warm", suffix, float64(spawnAllJoinAll(batch))/batch, "ns")
}

func skynetNode(up chan int, first, size int) {
	if size == 1 {
		up <- first
		return
	}
	parts := make(chan int)
	share, sum := size/branches, 0
	for i := 0; i < branches; i++ {
		go skynetNode(parts, first+i*share, share)
	}
	for i := 0; i < branches; i++ {
		sum += <-parts
	}
	up <- sum
}

func skynetRound(name, suffix string) {
	start := now()
	total := make(chan int)
	go skynetNode(total, 0, leaves)
	sum := <-total
	took := now() - start
	if sum != leavesSum {
		fail("skynet added up to " + strconv.Itoa(sum))
	}
	report(name, suffix, float64(took)/1e6, "ms")
}

func skynet(suffix string) {
	skynetRound("skynet.cold", suffix)
	skynetRound("skynet.warm", suffix)
}

func main() {
	benchMain([]bench{{"yield", yield}, {"spawn_join", spawnJoin}, {"spawn_batch", spawnBatch}, {"skynet", skynet}})
}
