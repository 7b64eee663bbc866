// SPDX-License-Identifier: MIT
//
// What every Go benchmark shares: the choice of the row, the report, percentiles. The counterpart of
// bench/weft/bench.h: called as "program NAME [SUFFIX]", prints lines "row value unit". Workers come from GOMAXPROCS;
// the garbage collector runs as it comes.
package main

import (
	"fmt"
	"os"
	"sort"
	"strconv"
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
