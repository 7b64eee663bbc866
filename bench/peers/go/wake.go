// SPDX-License-Identifier: MIT
//
// A thread hands work to a scheduler that is asleep: how soon it starts, what the hand-off costs. The counterpart of
// bench/weft/wake.c. Go has no outside threads without cgo; nearest to one is a goroutine locked to a thread of its own
// that pauses in a plain system call. While it submits it holds a P, so GOMAXPROCS must be at least 2.
package main

import (
	"runtime"
	"sync/atomic"
	"syscall"
)

const (
	warmUp  = 50
	samples = 1000
	pauseNs = 2000000
)

func pause() { syscall.Nanosleep(&syscall.Timespec{Nsec: pauseNs}, nil) }

func wake(string) {
	runtime.LockOSThread()
	delay, cost := make([]int64, samples), make([]int64, samples)
	var started int64
	for i := -warmUp; i < samples; i++ {
		atomic.StoreInt64(&started, 0)
		pause()
		submitted := now()
		go func() { atomic.StoreInt64(&started, now()) }()
		returned := now()
		for atomic.LoadInt64(&started) == 0 {
			pause()
		}
		if i >= 0 {
			delay[i] = started - submitted
			cost[i] = returned - submitted
		}
	}
	report("wake.p50", "", float64(percentile(delay, 0.50))/1e3, "us")
	report("wake.p99", "", float64(percentile(delay, 0.99))/1e3, "us")
	report("wake_cost.p50", "", float64(percentile(cost, 0.50))/1e3, "us")
}

func main() { benchMain([]bench{{"wake", wake}}) }
