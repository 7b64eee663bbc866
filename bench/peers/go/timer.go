// SPDX-License-Identifier: MIT
//
// Many sleeping goroutines: how long a million take, what a hundred thousand cost, how late they wake. Same work and
// same distances as bench/weft/timer.c.
package main

import (
	"sync/atomic"
	"time"
)

const (
	lateSleepers = 100000
	settle       = int64(200 * time.Millisecond)
)

type sleeper struct{ begun, due, woken int64 }

var (
	left  int64
	ended = make(chan int64, 1)
)

// A whole number below 1e9 from a task's number: the finalizer of splitmix64.
func spread(i int) int64 {
	x := uint64(i+1) * 0x9e3779b97f4a7c15
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb
	return int64((x ^ (x >> 31)) % 1000000000)
}

func countDown() {
	if atomic.AddInt64(&left, -1) == 0 {
		ended <- now()
	}
}

func sleepLong(i int) {
	time.Sleep(time.Second + time.Duration(spread(i)))
	countDown()
}

func sleepAndNote(i int, self *sleeper) {
	distance := spread(i)
	self.begun = now()
	self.due = self.begun + distance
	time.Sleep(time.Duration(distance))
	self.woken = now()
	countDown()
}

func sleepers(suffix string) {
	n := count(suffix)
	left = int64(n)
	start := now()
	for i := 0; i < n; i++ {
		go sleepLong(i)
	}
	report("sleepers", suffix, float64(<-ended-start)/1e6, "ms")
}

// Lateness counts for sleepers that are due well after the last one has begun: before that, spawning is in the way and
// the backlog that it left.
func reportLateness(all []sleeper) {
	var steady int64
	var lateness []int64
	for i := range all {
		if all[i].begun > steady {
			steady = all[i].begun
		}
	}
	for i := range all {
		if all[i].due > steady+settle {
			lateness = append(lateness, all[i].woken-all[i].due)
		}
	}
	report("sleepers.late.p50", "", float64(percentile(lateness, 0.50))/1e3, "us")
	report("sleepers.late.p99", "", float64(percentile(lateness, 0.99))/1e3, "us")
}

func late(suffix string) {
	all := make([]sleeper, lateSleepers)
	left = lateSleepers
	start := cpu()
	for i := range all {
		go sleepAndNote(i, &all[i])
	}
	<-ended
	report("sleepers.cpu", suffix, float64(cpu()-start)/1e6, "ms")
	reportLateness(all)
}

func main() { benchMain([]bench{{"sleepers", sleepers}, {"late", late}}) }
