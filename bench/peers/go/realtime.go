// SPDX-License-Identifier: MIT
//
// How soon a goroutine runs once it is woken, while everything is busy. The counterpart of bench/weft/realtime.c: the
// same load, the same waker. Go has neither priorities nor real-time threads, so the goroutine is one like any other.
package main

import (
	"runtime"
	"sync"
	"sync/atomic"
)

const (
	yielders   = 4
	samplesMax = 4096
	warmUp     = 20
	lasts      = int64(3e9)
	turn       = int64(10e3)
	between    = int64(1e6)
)

var (
	wakes    = make(chan int64, 1) // takes the time of each wake
	answered int64                 // when the woken goroutine last ran; 0 while a wake is under way
	end      int64
	yields   bool
)

func compute(ns int64) {
	for end := now() + ns; now() < end; {
	}
}

func keepBusy() {
	for now() < end {
		compute(turn)
		if yields {
			runtime.Gosched()
		}
	}
}

func keepBusyAndWake() {
	for now() < end {
		if at := atomic.LoadInt64(&answered); at != 0 && now()-at >= between {
			atomic.StoreInt64(&answered, 0)
			wakes <- now()
		}
		compute(turn)
		if yields {
			runtime.Gosched()
		}
	}
	close(wakes)
}

func answer() []int64 {
	delay := make([]int64, 0, samplesMax)
	count := 0
	for sent := range wakes {
		late := now() - sent
		if count++; count > warmUp && len(delay) < samplesMax {
			delay = append(delay, late)
		}
		atomic.StoreInt64(&answered, now())
	}
	return delay
}

func timeWakes(row string, each int) {
	n := runtime.GOMAXPROCS(0) * each
	var delay []int64
	var all sync.WaitGroup
	end = now() + lasts
	answered = now()
	all.Add(n + 1)
	go func() {
		delay = answer()
		all.Done()
	}()
	for i := 0; i < n; i++ {
		go func(i int) {
			if i == 0 {
				keepBusyAndWake()
			} else {
				keepBusy()
			}
			all.Done()
		}(i)
	}
	all.Wait()
	report(row+".p50", "", float64(percentile(delay, 0.50))/1e3, "us")
	report(row+".p99", "", float64(percentile(delay, 0.99))/1e3, "us")
	report(row+".max", "", float64(percentile(delay, 1))/1e3, "us")
}

func high(string) {
	yields = true
	timeWakes("rt.wake.high", yielders)
}

func realTime(string) { timeWakes("rt.wake.real_time", 1) }

func main() { benchMain([]bench{{"high", high}, {"real_time", realTime}}) }
