// SPDX-License-Identifier: MIT
//
// Values from goroutine to goroutine: round trips without a buffer, a stream through one, select. Same work as
// bench/weft/chan.c. A select has its cases written down, as in every Go program; reflect.Select is far slower.
package main

import (
	"runtime"
	"strconv"
	"sync"
)

const (
	roundTripCount = 1000000
	elements       = 4000000
	selected       = 2000000
	warmUp         = 100000
	boundTripCount = 20000
	boundWarmUp    = 1000
	capacity       = 128
)

func checkSum(sum, n int) {
	if sum != n*(n-1)/2 {
		fail("the values added up to " + strconv.Itoa(sum))
	}
}

func sendAll(to chan<- int, first, n int) {
	for i := 0; i < n; i++ {
		to <- first + i
	}
}

func ask(there chan<- int, back <-chan int, n int) int {
	sum := 0
	for i := 0; i < n; i++ {
		there <- i
		sum += <-back
	}
	return sum
}

func answer(there <-chan int, back chan<- int, n int) {
	for i := 0; i < n; i++ {
		back <- <-there
	}
}

func roundTrips(n int, isBound bool) int64 {
	there, back := make(chan int), make(chan int)
	var group sync.WaitGroup
	sum := 0
	start := now()
	group.Add(2)
	go func() {
		sum = ask(there, back, n)
		group.Done()
	}()
	go func() {
		if isBound {
			runtime.LockOSThread()
		}
		answer(there, back, n)
		group.Done()
	}()
	group.Wait()
	took := now() - start
	checkSum(sum, n)
	return took
}

func unbuffered(suffix string) {
	roundTrips(warmUp, false)
	report("chan.unbuffered", suffix, float64(roundTrips(roundTripCount, false))/roundTripCount, "ns")
}

func boundRound(suffix string) {
	roundTrips(boundWarmUp, true)
	report("chan.bound_round", suffix, float64(roundTrips(boundTripCount, true))/boundTripCount, "ns")
}

func pump(sides, n int) int64 {
	stream, sums := make(chan int, capacity), make(chan int, sides)
	var senders sync.WaitGroup
	share, sum := n/sides, 0
	start := now()
	senders.Add(sides)
	for i := 0; i < sides; i++ {
		go func(first int) {
			sendAll(stream, first, share)
			senders.Done()
		}(i * share)
		go func() {
			part := 0
			for value := range stream {
				part += value
			}
			sums <- part
		}()
	}
	senders.Wait()
	close(stream)
	for i := 0; i < sides; i++ {
		sum += <-sums
	}
	took := now() - start
	checkSum(sum, n)
	return took
}

func buffered(suffix string) {
	sides := 1
	if suffix == "4to4" {
		sides = 4
	}
	pump(sides, warmUp)
	report("chan.buffered", suffix, float64(pump(sides, elements))/elements, "ns")
}

func selectOf2(c []chan int, n int) int {
	sum, a, b := 0, c[0], c[1]
	for i := 0; i < n; i++ {
		select {
		case v := <-a:
			sum += v
		case v := <-b:
			sum += v
		}
	}
	return sum
}

func selectOf8(in []chan int, n int) int {
	sum, a, b, c, d, e, f, g, h := 0, in[0], in[1], in[2], in[3], in[4], in[5], in[6], in[7]
	for i := 0; i < n; i++ {
		select {
		case v := <-a:
			sum += v
		case v := <-b:
			sum += v
		case v := <-c:
			sum += v
		case v := <-d:
			sum += v
		case v := <-e:
			sum += v
		case v := <-f:
			sum += v
		case v := <-g:
			sum += v
		case v := <-h:
			sum += v
		}
	}
	return sum
}

func selectAmong(channels, n int) int64 {
	in, sum := make([]chan int, channels), make(chan int)
	share := n / channels
	start := now()
	for i := range in {
		in[i] = make(chan int)
		go sendAll(in[i], i*share, share)
	}
	go func() {
		if channels == 8 {
			sum <- selectOf8(in, n)
		} else {
			sum <- selectOf2(in, n)
		}
	}()
	total := <-sum
	took := now() - start
	checkSum(total, n)
	return took
}

func selectOne(suffix string) {
	channels := 2
	if suffix == "8" {
		channels = 8
	}
	selectAmong(channels, warmUp)
	report("select", suffix, float64(selectAmong(channels, selected))/selected, "ns")
}

func main() {
	benchMain([]bench{
		{"unbuffered", unbuffered}, {"bound_round", boundRound}, {"buffered", buffered}, {"select", selectOne},
	})
}
