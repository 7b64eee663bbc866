/* SPDX-License-Identifier: MIT
 *
 * examples/demo/server.c - what `make demo` shows after the million: an HTTP server, and a load on it, with live figures.
 *
 *     server [--seconds N] [--stay] [--port N]
 *
 *     GET /          a page that shows the figures as they change
 *     GET /figures   those, as a stream of events
 *     GET /hello     an answer by a light fiber, the one of its connection
 *     GET /multiply  a product of matrices by OpenBLAS: the handler waits, a fiber that is bound to a thread computes
 *
 * The program is its own client, for five seconds by default: 64 connections ask for /hello and 4 for /multiply, each as soon
 * as it has its answer. Then it prints what came of it and ends with status 0 if every answer was right; with --stay it goes on
 * serving until it is interrupted. Without OpenBLAS there is no /multiply.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft.h>
#include <weft/http_client.h>
#ifdef DEMO_BLAS
#include <cblas.h>
#endif

enum { ASKERS = 64, MULTIPLIERS = 4, SIDE = 96, SAMPLES = 1 << 21 };

/* One kind of request: who asks for it, and how long answers took. */
struct kind {
    const char *path;
    const char *answer; /* what its body begins with */
    int askers;
    atomic_long asked, wrong;
    int32_t *samples; /* microseconds; the first SAMPLES of them */
};

struct demo {
    int seconds;
    bool stays;
    unsigned port;
    weft_http_server *server;
    weft_fd listener;
    char url[WEFT_ADDRESS_TEXT + 16];
    weft_http_client *client;
    weft_time start;
    weft_time load_ends;
    atomic_bool is_over; /* streams of figures end */
    struct kind kinds[2];
};

/* A handler's wish, and where it waits for it. */
struct product {
    double trace;
    weft_promise *done;
};

static struct demo demo = {
    .seconds = 5,
    .kinds = {{.path = "/hello", .answer = "Hello", .askers = ASKERS},
              {.path = "/multiply", .answer = "trace 96", .askers = MULTIPLIERS}},
};
static WEFT_CHAN(struct product *) products;

static const char page[] =
    "<!doctype html><meta charset=utf-8><title>weft</title>"
    "<style>body{font:20px system-ui;margin:3em auto;max-width:26em}td{padding:.2em 1em}"
    "td+td{text-align:right;font-variant-numeric:tabular-nums}svg{width:100%;background:#f2f4f7}</style>"
    "<h1>weft</h1><table id=t></table><svg viewBox='0 0 120 40' preserveAspectRatio=none>"
    "<polyline id=l fill=none stroke=#0969da /></svg>"
    "<script>let h=[];new EventSource('/figures').onmessage=e=>{let f=JSON.parse(e.data),r='';"
    "for(let k in f)r+=`<tr><td>${k}<td>${f[k].toLocaleString()}`;t.innerHTML=r;"
    "h.push(f['requests a second']);if(h.length>120)h.shift();let m=Math.max(1,...h);"
    "l.setAttribute('points',h.map((v,i)=>`${i},${39-38*v/m}`).join(' '))}</script>";

static int app(void *arg);
static int open_all(void);
static void *serve(void *arg);
static void run_load(int kinds);
static void report(int kinds);
static void wait_for_signal(void);

static void must(int error, const char *what) {
    if (error < 0)
        weft_fatal("%s: %s", what, strerror(-error));
}

static bool parse(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--stay") == 0)
            demo.stays = true;
        else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
            demo.seconds = atoi(argv[++i]);
        else if (strcmp(argv[i], "--port") == 0 && i + 1 < argc)
            demo.port = (unsigned)atoi(argv[++i]);
        else
            return false;
    }
    return demo.seconds >= 1 && demo.seconds <= 3600 && demo.port <= 65535;
}

int main(int argc, char **argv) {
    if (!parse(argc, argv)) {
        fprintf(stderr, "usage: %s [--seconds N] [--stay] [--port N]\n", argv[0]);
        return 2;
    }
    return weft_run(NULL, app, NULL) == 0 ? 0 : 1;
}

/* ---- figures ---- */

struct figures {
    uint64_t requests, connections, fibers;
    double memory_mib;
};

static struct figures figures_now(void) {
    weft_http_stats http;
    weft_stats stats;
    long pages = 0;
    must(weft_http_get_stats(demo.server, &http), "no figures of the server");
    must(weft_get_stats(NULL, &stats), "no figures of the runtime");
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%*s %ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return (struct figures){http.requests, http.connections, stats.fibers_alive,
                            (double)pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20)};
}

static void show_page(weft_http *http, void *arg) {
    (void)arg;
    weft_http_reply(http, 200, "text/html; charset=utf-8", page, sizeof page - 1);
}

static void stream_figures(weft_http *http, void *arg) {
    (void)arg;
    struct figures last = figures_now();
    weft_time last_time = weft_now();
    while (!atomic_load(&demo.is_over) && weft_sleep(weft_after(250 * WEFT_MILLISECOND)) == 0) {
        char text[256];
        struct figures now = figures_now();
        weft_time moment = weft_now();
        snprintf(text, sizeof text,
                 "{\"requests a second\": %.0f, \"requests\": %llu, \"connections\": %llu, \"fibers\": %llu, "
                 "\"memory, MiB\": %.1f}",
                 (double)(now.requests - last.requests) * 1e9 / (double)(moment - last_time),
                 (unsigned long long)now.requests, (unsigned long long)now.connections, (unsigned long long)now.fibers,
                 now.memory_mib);
        if (weft_http_event(http, NULL, text, NULL) != 0)
            return;
        last = now;
        last_time = moment;
    }
}

/* ---- handlers ---- */

static void say_hello(weft_http *http, void *arg) {
    (void)arg;
    static const char text[] = "Hello from a fiber.\n";
    weft_http_reply(http, 200, "text/plain", text, sizeof text - 1);
}

#ifdef DEMO_BLAS
static double there[SIDE * SIDE], back[SIDE * SIDE];

/* Turns by an angle in each plane, and back. */
static void make_matrices(void) {
    for (int i = 0; i < SIDE; i += 2) {
        double *upper = &there[i * SIDE + i], *lower = upper + SIDE;
        double *upper_back = &back[i * SIDE + i], *lower_back = upper_back + SIDE;
        upper[0] = lower[1] = upper_back[0] = lower_back[1] = 0.6;
        upper[1] = lower_back[0] = 0.8;
        lower[0] = upper_back[1] = -0.8;
    }
}

/* The product is the unit matrix, and its trace SIDE. Runs on the thread's own stack. */
static void multiply(void *arg) {
    struct product *product = arg;
    double *out = malloc(sizeof there);
    if (!out)
        return;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SIDE, SIDE, SIDE, 1, there, SIDE, back, SIDE, 0, out, SIDE);
    for (int i = 0; i < SIDE; i++)
        product->trace += out[i * SIDE + i];
    free(out);
}

/* A fiber with a thread of its own: the library may take its time there. */
static void *calculate(void *arg) {
    struct product *product;
    while (WEFT_CHAN_RECV(&products, &product, WEFT_NEVER) == 0) {
        weft_promise *done = product->done; /* once it is resolved the product is gone */
        must(weft_ffi_call(multiply, product), "foreign call");
        must(weft_promise_resolve(done, NULL), "cannot answer");
        weft_promise_unref(done);
    }
    return arg;
}

static void answer_product(weft_http *http, void *arg) {
    struct product product = {0}, *wish = &product;
    (void)arg;
    if (weft_promise_new(&product.done) != 0) {
        weft_http_fail(http, 503);
        return;
    }
    weft_promise_ref(product.done); /* for the one who calculates */
    weft_shield();                  /* the wish lies on this stack: it is waited for in any case */
    int error = WEFT_CHAN_SEND(&products, &wish, WEFT_NEVER);
    if (error)
        weft_promise_unref(product.done);
    else
        error = weft_promise_await(product.done, NULL, WEFT_NEVER);
    weft_unshield();
    weft_promise_unref(product.done);
    if (error)
        weft_http_fail(http, 503);
    else
        weft_http_print(http, "trace %g\n", product.trace);
}
#endif

/* ---- the demonstration ---- */

static int app(void *arg) {
    (void)arg;
    weft_fiber server;
    int kinds = open_all();
    if (kinds == 0) {
        printf("\n3. The server is left out: this weft was built without its HTTP parser.\n");
        return 0;
    }
    printf("\n3. A server at %s, and %d connections that ask it for %d s%s\n", demo.url,
           ASKERS + (kinds > 1 ? MULTIPLIERS : 0), demo.seconds,
           kinds > 1 ? ", 4 of them for products of matrices" : "");
    fflush(stdout);
    demo.start = weft_now();
    must(weft_spawn(&server, serve, NULL), "cannot spawn");
    run_load(kinds);
    report(kinds);
    if (demo.stays) {
        printf("\n   It goes on at %s until it is interrupted.\n", demo.url);
        fflush(stdout);
        wait_for_signal();
    }
    atomic_store(&demo.is_over, true);
    weft_http_client_free(demo.client);
    (void)weft_http_server_stop(demo.server, weft_after(2 * WEFT_SECOND));
    must(weft_join(server, NULL, WEFT_NEVER), "the server");
    weft_close(demo.listener);
    weft_http_server_free(demo.server);
    if (kinds > 1)
        WEFT_CHAN_CLOSE(&products); /* which ends those who calculate */
    bool is_right = true;
    for (int i = 0; i < kinds; i++) {
        is_right = is_right && demo.kinds[i].asked > 0 && demo.kinds[i].wrong == 0;
        free(demo.kinds[i].samples);
    }
    return is_right ? 0 : 1;
}

/* Returns how many kinds of requests there are to ask for; 0 when there is no HTTP. */
static int open_all(void) {
    weft_address address;
    char text[WEFT_ADDRESS_TEXT];
    weft_http_client_options options = {.max_per_host = ASKERS + MULTIPLIERS};
    int kinds = 1;
    if (weft_http_server_new(&demo.server, NULL) != 0)
        return 0;
    must(weft_http_client_new(&demo.client, &options), "no client");
    must(weft_http_route(demo.server, "GET /", show_page, NULL), "no route");
    must(weft_http_route(demo.server, "GET /figures", stream_figures, NULL), "no route");
    must(weft_http_route(demo.server, "GET /hello", say_hello, NULL), "no route");
#ifdef DEMO_BLAS
    weft_spawn_options bound = {.name = "calculator", .bound = true, .detached = true};
    make_matrices();
    openblas_set_num_threads(1); /* one thread a fiber is what there is */
    must(WEFT_CHAN_NEW(&products, 0), "no channel");
    must(weft_http_route(demo.server, "GET /multiply", answer_product, NULL), "no route");
    for (int i = 0; i < 2; i++)
        must(weft_spawn_with(NULL, &bound, calculate, NULL), "no bound fiber");
    kinds = 2;
#endif
    must(weft_address_of(&address, "127.0.0.1", demo.port), "no address");
    must(weft_listen(&demo.listener, &address, NULL), "cannot listen");
    must(weft_local_address(demo.listener, &address), "no address");
    must(weft_address_format(&address, text, sizeof text), "no address");
    snprintf(demo.url, sizeof demo.url, "http://%s", text);
    return kinds;
}

static void *serve(void *arg) {
    must(weft_http_serve(demo.server, demo.listener), "the server");
    return arg;
}

/* One connection's worth of questions. */
static int ask(void *arg) {
    struct kind *kind = arg;
    char url[sizeof demo.url + 16];
    snprintf(url, sizeof url, "%s%s", demo.url, kind->path);
    for (weft_time begun; (begun = weft_now()) < demo.load_ends;) {
        weft_http_response *response;
        const void *body;
        size_t size;
        int error = weft_http_fetch(demo.client, "GET", url, NULL, 0, &response, weft_after(10 * WEFT_SECOND));
        long number = atomic_fetch_add(&kind->asked, 1);
        if (!error)
            error = weft_http_response_body(response, &body, &size, WEFT_NOW);
        if (error || weft_http_response_status(response) != 200 ||
            strncmp(body, kind->answer, strlen(kind->answer)) != 0)
            atomic_fetch_add(&kind->wrong, 1);
        if (!error)
            weft_http_response_close(response);
        if (number < SAMPLES)
            kind->samples[number] = (int32_t)((weft_now() - begun) / WEFT_MICROSECOND);
    }
    return 0;
}

static int watch(void *arg) {
    struct figures last = figures_now();
    (void)arg;
    for (int second = 1; second <= demo.seconds; second++) {
        if (weft_sleep(demo.start + second * WEFT_SECOND) != 0)
            break;
        struct figures now = figures_now();
        printf("   %2d s  %8llu requests a second, %llu fibers, %.1f MiB\n", second,
               (unsigned long long)(now.requests - last.requests), (unsigned long long)now.fibers, now.memory_mib);
        fflush(stdout);
        last = now;
    }
    return 0;
}

static void run_load(int kinds) {
    const weft_scope_options options = {.keep_going = true};
    weft_scope *scope;
    demo.load_ends = demo.start + demo.seconds * WEFT_SECOND;
    must(weft_scope_open(&scope, &options), "no scope");
    must(weft_scope_go(scope, watch, NULL), "cannot spawn");
    for (int i = 0; i < kinds; i++) {
        demo.kinds[i].samples = malloc(SAMPLES * sizeof *demo.kinds[i].samples);
        if (!demo.kinds[i].samples)
            weft_fatal("no memory for the samples");
        for (int k = 0; k < demo.kinds[i].askers; k++)
            must(weft_scope_go(scope, ask, &demo.kinds[i]), "cannot spawn");
    }
    must(weft_scope_close(scope), "the load");
}

static int by_size(const void *left, const void *right) {
    int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

static void report(int kinds) {
    weft_thread_stats threads;
    double seconds = (double)(weft_now() - demo.start) / 1e9;
    printf("\n");
    for (int i = 0; i < kinds; i++) {
        struct kind *kind = &demo.kinds[i];
        long asked = kind->asked, count = asked < SAMPLES ? asked : SAMPLES;
        qsort(kind->samples, (size_t)count, sizeof *kind->samples, by_size);
        printf("   %-10s  %ld answers, %.0f a second, %ld wrong; half within %.2f ms, 99 of 100 within %.2f ms\n",
               kind->path, asked, (double)asked / seconds, (long)kind->wrong,
               count ? kind->samples[count / 2] / 1e3 : 0, count ? kind->samples[count * 99 / 100] / 1e3 : 0);
    }
    if (weft_get_thread_stats(NULL, &threads) == 0)
        printf("   fibers bound to a thread: %u; server and clients are one process here\n", threads.bound_peak);
}

static void wait_for_signal(void) {
    static const int numbers[] = {SIGINT, SIGTERM};
    weft_signals signals;
    must(weft_signals_open(&signals, numbers, 2), "no signals");
    (void)weft_signal_wait(signals, NULL, WEFT_NEVER);
    weft_signals_close(signals);
}
