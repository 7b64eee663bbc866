// SPDX-License-Identifier: MIT
//
// What a channel costs that serves as an event, triggered by closing it: to make and close, to ask, to wait for, to
// have pending. Same work as bench/weft/event.c, but for completion queues, which Go does not have.
package main

import (
	"runtime"
	"sync"
	"sync/atomic"
)

const (
	made      = 2000000
	polled    = 20000000
	rounds    = 1000000
	warmUp    = 100000
	pending   = 1000000
	completed = 256
	passes    = 5
)

type event chan struct{}

// Processor time of one operation in the best of the passes, of which the first is also the warm-up.
func bestCPU(pass func(n int), n int) float64 {
	best := int64(-1)
	for i := 0; i < passes; i++ {
		start := cpu()
		pass(n)
		if took := cpu() - start; best < 0 || took < best {
			best = took
		}
	}
	return float64(best) / float64(n)
}

func makeAndClose(n int) {
	for i := 0; i < n; i++ {
		close(make(event))
	}
}

func createTrigger(suffix string) {
	report("event.create_trigger", suffix, bestCPU(makeAndClose, made), "ns")
}

func pollCompleted(suffix string) {
	var all [completed]event
	for i := range all {
		all[i] = make(event)
		close(all[i])
	}
	poll := func(n int) {
		for i := 0; i < n; i++ {
			select {
			case <-all[i%completed]:
			default:
				fail("an event is not ready")
			}
		}
	}
	report("event.poll_completed", suffix, bestCPU(poll, polled), "ns")
}

// The maker publishes an event and closes it once the waiter has taken it; on one worker it waits by then.
type meeting struct {
	event            event
	published, taken int64
}

func (m *meeting) waitForEach(n int64) {
	for i := int64(1); i <= n; i++ {
		for atomic.LoadInt64(&m.published) < i {
			runtime.Gosched()
		}
		e := m.event
		atomic.StoreInt64(&m.taken, i)
		<-e
	}
}

func meet(n int64) int64 {
	var m meeting
	var group sync.WaitGroup
	start := now()
	group.Add(1)
	go func() {
		m.waitForEach(n)
		group.Done()
	}()
	for i := int64(1); i <= n; i++ {
		e := make(event)
		m.event = e
		atomic.StoreInt64(&m.published, i)
		for atomic.LoadInt64(&m.taken) < i {
			runtime.Gosched()
		}
		close(e)
	}
	group.Wait()
	return now() - start
}

func fiberRound(suffix string) {
	meet(warmUp)
	report("event.fiber_round", suffix, float64(meet(rounds))/rounds, "ns")
}

// The places for the handles are there before; what the events take comes after.
func memory(suffix string) {
	all, placeholder := make([]event, pending), make(event)
	for i := range all {
		all[i] = placeholder
	}
	before := memoryBytes()
	for i := range all {
		all[i] = make(event)
	}
	report("event.memory", suffix, float64(memoryBytes()-before)/pending, "B")
	runtime.KeepAlive(all)
}

func main() {
	benchMain([]bench{{"create_trigger", createTrigger}, {"poll_completed", pollCompleted},
		{"fiber_round", fiberRound}, {"memory", memory}})
}
