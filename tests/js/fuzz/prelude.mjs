// Written before each random script; after two seconds it ends.
import fs from 'node:fs';
import stream from 'node:stream';
import zlib from 'node:zlib';
import { AsyncLocalStorage } from 'node:async_hooks';
import { inspect } from 'node:util';
import ffi from 'weft:ffi';
import { open } from 'weft:fs';
import { EventSystem } from 'weft:events';
import { Pool, current } from 'weft:pool';
import { channel, parallel, spawn } from 'weft:parallel';
import { after, Barrier, chan, Channel, Cond, go, isFiber, Mutex, Once, RWLock, scope, select, Semaphore, sleep, Ticker, ticker, wait, WaitGroup }
    from 'weft:go';
const C = ffi.open(null, { abs: ['i32', ['i32']], labs: ['i64', ['i64']], toupper: ['u8', ['u8']], strlen: ['size_t', ['string']],
    atoi: ['i32', ['string']], getpid: ['i32', []], usleep: ['i32', ['u8']], qsort: ['void', ['buffer', 'size_t', 'size_t', { callback: ['i32', ['pointer', 'pointer']] }]] });
const M = ffi.open('libm.so.6', { pow: ['f64', ['f64', 'f64']] });
const { exit } = process;
setInterval(() => exit(99), 2000).unref();
process.on('unhandledRejection', () => {});
let v0 = 1, v1 = {}, v2 = [], v3 = 'text', v4, v5, arguments0, count = 0, b0 = new ArrayBuffer(64), b1 = new ArrayBuffer(8, { maxByteLength: 4096 });
let u0 = new Uint8Array(b0), c0 = chan(), c1 = chan(2), c2 = channel(4), m0 = new Mutex(), s0 = new Semaphore(2), rw = new RWLock();
const condition = new Cond(), group = new WaitGroup(), controller = new AbortController(), events = new EventSystem(), local = new AsyncLocalStorage();
function note(...values) { arguments0 = values[0]; if (++count % 50 === 0) inspect(values); return values[0]; }
