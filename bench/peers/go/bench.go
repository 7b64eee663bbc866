// SPDX-License-Identifier: MIT
//
// What every Go benchmark shares: the choice of the row, the report, percentiles, processor time, memory. The
// counterpart of bench/weft/bench.h: called as "program NAME [SUFFIX]", prints lines "row value unit". Workers come
// from GOMAXPROCS; the garbage collector runs as it comes.
package main

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"
)

type bench struct {
	name string
	run  func(suffix string)
}

var clockBase = time.Now()

// Nanoseconds of the monotonic clock.
func now() int64 { return int64(time.Since(clockBase)) }

func report(name, suffix string, value float64, unit string) {
	if suffix != "" {
		name += "." + suffix
	}
	fmt.Printf("%s %.3f %s\n", name, value, unit)
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, "benchmark:", message)
	os.Exit(1)
}

func count(suffix string) int {
	n, err := strconv.Atoi(suffix)
	if err != nil || n <= 0 {
		fail("this one needs a count")
	}
	return n
}

// Sorts the values; share 0.5 gives the median.
func percentile(values []int64, share float64) int64 {
	if len(values) == 0 {
		fail("no samples")
	}
	sort.Slice(values, func(i, j int) bool { return values[i] < values[j] })
	return values[int(float64(len(values)-1)*share)]
}

// Processor time of this process so far, the collector's included.
func cpu() int64 {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		fail(err.Error())
	}
	return use.Utime.Nano() + use.Stime.Nano()
}

// Resident memory and page tables of this process.
func memoryBytes() int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		fail("no /proc/self/status")
	}
	var kib int64
	for _, line := range strings.Split(string(text), "\n") {
		var part int64
		for _, key := range []string{"VmRSS: %d", "VmPTE: %d"} {
			if n, _ := fmt.Sscanf(line, key, &part); n == 1 {
				kib += part
			}
		}
	}
	return kib * 1024
}

func benchMain(all []bench) {
	suffix := ""
	if len(os.Args) > 2 {
		suffix = os.Args[2]
	}
	for _, b := range all {
		if len(os.Args) > 1 && os.Args[1] == b.name {
			b.run(suffix)
			return
		}
	}
	fmt.Fprintln(os.Stderr, "usage:", os.Args[0], "NAME [SUFFIX]")
	os.Exit(2)
}
