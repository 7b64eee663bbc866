/* SPDX-License-Identifier: MIT
 *
 * bench/shared/loop_work.h - the sizes of the event loop's rows, the delays of its timers, and the proof that a loop
 * sleeps, so that all systems are asked for the same.
 *
 * weft and libuv include this file; bench/peers/node/loop.js is its translation. Every pass counts the callbacks that
 * have run: one that is lost or runs twice gives no figure.
 */
#ifndef LOOP_WORK_H
#define LOOP_WORK_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    LOOP_PASSES = 5,        /* timed passes in a process, after one that is not; the best counts */
    LOOP_SUBMITS = 1000000, /* tasks of a pass of "submit", over all producers */
    LOOP_PRODUCERS_MAX = 100,
    LOOP_BURST = 1000,         /* callbacks that are queued at a time */
    LOOP_BURSTS = 1000,        /* such times in a pass */
    LOOP_TIMERS = 10000,       /* timers that are alive together */
    LOOP_FIRE_ROUNDS = 20,     /* of so many, in a pass of "timer_fire" */
    LOOP_CANCEL_ROUNDS = 50,   /* and of "timer_cancel" */
    LOOP_FIRE_NS = 1000000,    /* timers that fire are set to 0 up to this */
    LOOP_CANCEL_MS = 1000,     /* timers that are cancelled are set to 1 s, and 0 up to this more */
    LOOP_CHAIN = 100000,       /* promises of a chain */
    LOOP_ROUND_TRIPS = 100000, /* of one byte, in a pass of "fd" */
    LOOP_WAKES = 1000,         /* samples of "wake" */
    LOOP_WAKES_WARM_UP = 50,
    LOOP_WAKE_PAUSE_NS = 200000 /* after each: the submitter's core is free, should the kernel want it for the loop */
};

/* Numbers from 0 to limit, the same in every run: a generator of 32 bits, whose upper ones are the good ones. */
static inline uint32_t loop_random(uint32_t *state, uint32_t limit) {
    *state = *state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)*state * (limit + UINT64_C(1)) >> 32);
}

/* The numbers 0 to n - 1 in no order. */
static inline void loop_shuffle(uint32_t *order, uint32_t n) {
    uint32_t state = 1;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = loop_random(&state, i);
        order[i] = order[j];
        order[j] = i;
    }
}

/* The kernel's word on a thread of this process: a descriptor for loop_thread_sleeps, or -1. */
static inline int loop_thread_open(int thread_id) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread_id);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Whether it waits in the kernel: the letter after the name, which is in parentheses. */
static inline int loop_thread_sleeps(int descriptor) {
    char line[512];
    ssize_t length = pread(descriptor, line, sizeof line - 1, 0);
    line[length > 0 ? length : 0] = 0;
    const char *name_end = strrchr(line, ')');
    return name_end && strncmp(name_end, ") S", 3) == 0;
}

#endif
