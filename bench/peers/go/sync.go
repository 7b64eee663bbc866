// SPDX-License-Identifier: MIT
//
// What a sync.Mutex costs: alone, and with four goroutines a worker after it. Same work as bench/weft/sync.c. Go's
// mutex lets a newcomer overtake those who wait, and is handed over in order only after somebody waited 1 ms.
package main

import (
	"runtime"
	"strconv"
	"strings"
	"sync"
)

const (
	pairs          = 20000000
	sections       = 4000000
	warmUp         = 100000
	tasksPerWorker = 4
	yieldEvery     = 16
)

var (
	mutex  sync.Mutex
	number int // under mutex
)

func lockAndUnlock(n int) int64 {
	start := now()
	for i := 0; i < n; i++ {
		mutex.Lock()
		mutex.Unlock()
	}
	return now() - start
}

func uncontended(suffix string) {
	lockAndUnlock(warmUp)
	report("mutex.uncontended", suffix, float64(lockAndUnlock(pairs))/pairs, "ns")
}

func addOnes(n int) {
	for i := 0; i < n; i++ {
		mutex.Lock()
		number++
		if i%yieldEvery == 0 {
			runtime.Gosched()
		}
		mutex.Unlock()
	}
}

// The time a section takes, over all goroutines.
func contend(tasks, n int) float64 {
	var group sync.WaitGroup
	share := n / tasks
	number = 0
	start := now()
	group.Add(tasks)
	for i := 0; i < tasks; i++ {
		go func() {
			addOnes(share)
			group.Done()
		}()
	}
	group.Wait()
	took := now() - start
	if number != tasks*share {
		fail(strconv.Itoa(number) + " sections were counted")
	}
	return float64(took) / float64(number)
}

func contended(suffix string) {
	tasks := tasksPerWorker * count(strings.TrimSuffix(suffix, "w"))
	contend(tasks, warmUp)
	report("mutex.contended", suffix, contend(tasks, sections), "ns")
}

func main() { benchMain([]bench{{"uncontended", uncontended}, {"contended", contended}}) }
