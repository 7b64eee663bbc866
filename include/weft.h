/* SPDX-License-Identifier: MIT
 *
 * weft.h - all of weft.
 *
 * The umbrella over include/weft/: each header stands alone and has its contract beside every declaration.
 *
 *     #include <weft.h>
 *     static int app(void *arg) { ... }
 *     int main(void) { return weft_run(NULL, app, NULL); }
 */
#ifndef WEFT_H
#define WEFT_H

#include "weft/abort.h"
#include "weft/base.h"
#include "weft/buffer.h"
#include "weft/chan.h"
#include "weft/dns.h"
#include "weft/event.h"
#include "weft/ffi.h"
#include "weft/fiber.h"
#include "weft/file.h"
#include "weft/http.h"
#include "weft/http_client.h"
#include "weft/inspect.h"
#include "weft/io.h"
#include "weft/local.h"
#include "weft/loop.h"
#include "weft/loop_promise.h"
#include "weft/net.h"
#include "weft/panic.h"
#include "weft/parallel.h"
#include "weft/performance.h"
#include "weft/pool.h"
#include "weft/process.h"
#include "weft/promise.h"
#include "weft/runtime.h"
#include "weft/scope.h"
#include "weft/select.h"
#include "weft/signal.h"
#include "weft/sync.h"
#include "weft/target.h"
#include "weft/thread.h"
#include "weft/time.h"
#include "weft/timer.h"
#include "weft/version.h"

#endif
