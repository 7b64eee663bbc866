// SPDX-License-Identifier: MIT
//
// What a call into a shared library costs: cgo. The counterpart of bench/weft/ffi.c, with the same library, the same
// arguments and the same sum. The goroutine is locked to its thread as weft's fiber is bound; cgo does not need it.
package main

// #include "add.h"
import "C"
import "runtime"

const (
	calls  = 2000000
	passes = 12
)

func callAdd() float64 {
	sum := 0.0
	for i := 0; i < calls; i++ {
		sum += float64(C.weft_bench_add(C.double(i), 1))
	}
	return sum
}

func ffi(string) {
	runtime.LockOSThread()
	best := 0.0
	for i := 0; i < passes; i++ {
		start := now()
		sum := callAdd()
		each := float64(now()-start) / calls
		if sum != calls*(calls+1.0)/2 {
			fail("the results added up to something else")
		}
		if best == 0 || each < best {
			best = each
		}
	}
	report("ffi.bound", "", best, "ns")
}

func main() { benchMain([]bench{{"ffi", ffi}}) }
