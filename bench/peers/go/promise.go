// SPDX-License-Identifier: MIT
//
// What a channel of one value costs that serves as a promise: filled before anybody asks, and with a goroutine that
// waits for it. Same work as bench/weft/promise.c.
package main

import (
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

const (
	settled = 2000000
	rounds  = 1000000
	warmUp  = 100000
)

type promise chan int

func checkSum(sum, n int) {
	if sum != n*(n+1)/2 {
		fail("the values added up to " + strconv.Itoa(sum))
	}
}

func settleAndAwait(n int) int64 {
	sum := 0
	start := now()
	for i := 1; i <= n; i++ {
		p := make(promise, 1)
		p <- i
		sum += <-p
	}
	took := now() - start
	checkSum(sum, n)
	return took
}

func settleAwait(suffix string) {
	settleAndAwait(warmUp)
	report("promise.settle_await", suffix, float64(settleAndAwait(settled))/settled, "ns")
}

// The maker publishes a promise and fills it once the waiter has taken it; on one worker it waits by then.
type meeting struct {
	promise          promise
	published, taken int64
	sum              int
}

func (m *meeting) awaitEach(n int) {
	for i := 1; i <= n; i++ {
		for atomic.LoadInt64(&m.published) < int64(i) {
			runtime.Gosched()
		}
		p := m.promise
		atomic.StoreInt64(&m.taken, int64(i))
		m.sum += <-p
	}
}

func meet(n int) int64 {
	var m meeting
	var group sync.WaitGroup
	start := now()
	group.Add(1)
	go func() {
		m.awaitEach(n)
		group.Done()
	}()
	for i := 1; i <= n; i++ {
		p := make(promise, 1)
		m.promise = p
		atomic.StoreInt64(&m.published, int64(i))
		for atomic.LoadInt64(&m.taken) < int64(i) {
			runtime.Gosched()
		}
		p <- i
	}
	group.Wait()
	took := now() - start
	checkSum(m.sum, n)
	return took
}

func round(suffix string) {
	meet(warmUp)
	report("promise.round", suffix, float64(meet(rounds))/rounds, "ns")
}

func main() { benchMain([]bench{{"settle_await", settleAwait}, {"round", round}}) }
