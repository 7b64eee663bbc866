// SPDX-License-Identifier: MIT
//
// A thousand goroutines, each locked to its thread, call OpenBLAS beside a hundred thousand that are parked. The
// counterpart of bench/weft/blas.c: the same shared library, the same three ways in turn, the same processor times.
package main

// #include <cblas.h>
// #include "dots.h"
import "C"
import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

const (
	parkedCount = 100000
	passes      = 8
)

type way int

const (
	plain way = iota
	bySlice
	byCall
)

var (
	slices *C.dots
	begin  [C.DOTS_SLICES]chan way
	ended  sync.WaitGroup
	parked int64
	rounds int64
)

func slice(i int) *C.dots {
	return (*C.dots)(unsafe.Add(unsafe.Pointer(slices), uintptr(i)*unsafe.Sizeof(*slices)))
}

func runByCall(slice *C.dots) {
	sum := 0.0
	begun := C.dots_thread_cpu_ns()
	for i := 0; i < C.DOTS_CALLS; i++ {
		sum += float64(C.cblas_ddot(C.DOTS_LENGTH, &slice.x[0], 1, &slice.y[0], 1))
	}
	slice.cpu_ns = C.dots_thread_cpu_ns() - begun
	slice.sum = C.double(sum)
}

func compute(i int) {
	runtime.LockOSThread()
	for how := range begin[i] {
		if how == byCall {
			runByCall(slice(i))
		} else {
			C.dots_run(unsafe.Pointer(slice(i)))
		}
		ended.Done()
	}
}

func computePlain() {
	if C.dots_run_plain(slices) != 0 {
		fail("no threads")
	}
}

func computeLocked(how way) {
	ended.Add(C.DOTS_SLICES)
	for i := range begin {
		begin[i] <- how
	}
	ended.Wait()
}

// Passes a number to and fro until it is told to stop.
func lightPair(isOver *int32, pair *sync.WaitGroup) {
	there, back := make(chan int), make(chan int)
	go func() {
		for atomic.LoadInt32(isOver) == 0 {
			there <- 0
			<-back
			atomic.AddInt64(&rounds, 1)
		}
		close(there)
		pair.Done()
	}()
	go func() {
		for value := range there {
			back <- value
		}
		pair.Done()
	}()
}

// Computes all slices, with the light pair beside. Returns how long it took.
func pass(how way, bestRate *float64) int64 {
	var isOver int32
	var pair sync.WaitGroup
	pair.Add(2)
	lightPair(&isOver, &pair)
	start := now()
	if how == plain {
		computePlain()
	} else {
		computeLocked(how)
	}
	took := now() - start
	atomic.StoreInt32(&isOver, 1)
	pair.Wait()
	cpuNs := C.dots_collect(slices)
	if cpuNs <= 0 {
		fail("a slice has a wrong sum")
	}
	if rate := C.DOTS_SLICES * C.DOTS_CALLS * 1e3 / float64(cpuNs); rate > *bestRate {
		*bestRate = rate
	}
	return took
}

func startAll() {
	block := make(chan struct{})
	if slices = C.dots_new(); slices == nil {
		fail("no memory")
	}
	for i := 0; i < parkedCount; i++ {
		go func() {
			atomic.AddInt64(&parked, 1)
			<-block
		}()
	}
	for atomic.LoadInt64(&parked) < parkedCount {
		runtime.Gosched()
	}
	for i := range begin {
		begin[i] = make(chan way)
		go compute(i)
	}
}

func blas(string) {
	var alone, locked, each float64
	var took, beside int64 // by the locked goroutines; the light pair's rounds beside them
	startAll()
	for i := 0; i < passes; i++ {
		pass(plain, &alone)
		rounds = beside
		took += pass(bySlice, &locked)
		took += pass(byCall, &each)
		beside = rounds
	}
	report("blas.plain_rate", "", alone, "M/s")
	report("blas.bound_rate", "", locked, "M/s")
	report("blas.bound_ratio", "", locked/alone, "x")
	report("blas.call_ratio", "", each/alone, "x")
	report("blas.light_rounds", "", float64(beside)*1e9/float64(took), "1/s")
	report("blas.memory", "", float64(memoryBytes())/1e6, "MB")
}

func main() { benchMain([]bench{{"blas", blas}}) }
