/* SPDX-License-Identifier: MIT
 *
 * tests/js/ffi_library.c - a shared library that knows nothing of weft or JavaScript, for the fixtures ffi_*.mjs to
 * load.
 */
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* ---- Scalars: each comes back as it went in ---- */

#define ECHO(name, type) \
    EXPORT type echo_##name(type value); \
    type echo_##name(type value) { \
        return value; \
    }
ECHO(bool, bool)
ECHO(i8, int8_t)
ECHO(u8, uint8_t)
ECHO(i16, int16_t)
ECHO(u16, uint16_t)
ECHO(i32, int32_t)
ECHO(u32, uint32_t)
ECHO(i64, int64_t)
ECHO(u64, uint64_t)
ECHO(char, char)
ECHO(float, float)
ECHO(double, double)
ECHO(pointer, void *)

/* More arguments than there are registers, of all sorts. */
EXPORT double mix(int8_t a, double b, int64_t c, float d, uint16_t e, double f, int g, double h, uint64_t i, float j,
                  short k, double l, bool m, double n, long o, double p, double q, double r);
double mix(int8_t a, double b, int64_t c, float d, uint16_t e, double f, int g, double h, uint64_t i, float j, short k,
           double l, bool m, double n, long o, double p, double q, double r) {
    return a + 2 * b + 3 * (double)c + 4 * (double)d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * (double)i + 10 * (double)j +
           11 * k + 12 * l + 13 * m + 14 * n + 15 * (double)o + 16 * p + 17 * q + 18 * r;
}

EXPORT long add_all(int count, ...);
long add_all(int count, ...) {
    va_list list;
    long sum = 0;
    va_start(list, count);
    for (int i = 0; i < count; i++)
        sum += va_arg(list, int);
    va_end(list);
    return sum;
}

EXPORT int fail_with(int number);
int fail_with(int number) {
    errno = number;
    return -1;
}

/* ---- Texts ---- */

EXPORT size_t text_length(const char *text);
size_t text_length(const char *text) {
    return text ? strlen(text) : (size_t)-1;
}

EXPORT const char *text_of(int which);
const char *text_of(int which) {
    static const char *const texts[] = {"plain", "h\xc3\xa9llo \xe2\x82\xac \xf0\x9f\x98\x80", "", "bad \xff\xc3 end",
                                        NULL};
    return texts[which];
}

/* Writes to what it was given, as old functions do. */
EXPORT const char *upper(char *text);
const char *upper(char *text) {
    for (char *at = text; *at; at++)
        *at = (char)toupper((unsigned char)*at);
    return text;
}

/* ---- Buffers ---- */

EXPORT int64_t sum_bytes(const uint8_t *bytes, size_t size);
int64_t sum_bytes(const uint8_t *bytes, size_t size) {
    int64_t sum = bytes ? 0 : -1;
    for (size_t i = 0; bytes && i < size; i++)
        sum += bytes[i];
    return sum;
}

EXPORT void fill(uint8_t *bytes, size_t size, int value);
void fill(uint8_t *bytes, size_t size, int value) {
    memset(bytes, value, size);
}

EXPORT double sum_doubles(const double *values, size_t count);
double sum_doubles(const double *values, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

/* ---- Structs ---- */

struct one {
    int8_t a;
};
struct three {
    uint8_t a, b, c;
};
struct point {
    int x;
    double y;
};
struct floats {
    float a, b;
};
struct four {
    double a, b, c, d;
};
struct mixed {
    int8_t a;
    int64_t b;
    float c;
    bool d;
};
struct large {
    int32_t id;
    double values[8];
    char name[12];
};
struct line {
    struct point from, to;
    uint16_t width;
};
struct holder {
    void *pointer;
    const char *text;
    struct three inner[2];
    int16_t last;
};

EXPORT struct one turn_one(struct one s);
struct one turn_one(struct one s) {
    return (struct one){(int8_t)-s.a};
}
EXPORT struct three turn_three(struct three s);
struct three turn_three(struct three s) {
    return (struct three){s.c, s.b, s.a};
}
EXPORT struct point turn_point(struct point s);
struct point turn_point(struct point s) {
    return (struct point){(int)s.y, s.x + 0.5};
}
EXPORT struct floats turn_floats(struct floats s);
struct floats turn_floats(struct floats s) {
    return (struct floats){s.b, s.a};
}
EXPORT struct four turn_four(struct four s);
struct four turn_four(struct four s) {
    return (struct four){s.d, s.c, s.b, s.a};
}
EXPORT struct mixed turn_mixed(struct mixed s);
struct mixed turn_mixed(struct mixed s) {
    return (struct mixed){(int8_t)s.c, -s.b, s.a, !s.d};
}
EXPORT struct large turn_large(struct large s);
struct large turn_large(struct large s) {
    struct large turned = {.id = -s.id};
    for (int i = 0; i < 8; i++)
        turned.values[i] = s.values[7 - i];
    size_t length = strlen(s.name);
    for (size_t i = 0; i < length; i++)
        turned.name[i] = s.name[length - 1 - i];
    return turned;
}
EXPORT struct line turn_line(struct line s);
struct line turn_line(struct line s) {
    return (struct line){s.to, s.from, (uint16_t)(s.width + 1)};
}
EXPORT struct holder turn_holder(struct holder s);
struct holder turn_holder(struct holder s) {
    return (struct holder){s.pointer, s.text, {s.inner[1], s.inner[0]}, (int16_t)-s.last};
}

/* Between others, on the stack and in registers. */
EXPORT double weigh(int a, struct point p, double b, struct large l, struct floats f, int c);
double weigh(int a, struct point p, double b, struct large l, struct floats f, int c) {
    return a + p.x + p.y + b + l.id + l.values[7] + (double)f.a + (double)f.b + c;
}

EXPORT void move_point(struct point *point, int x, double y);
void move_point(struct point *point, int x, double y) {
    point->x += x;
    point->y += y;
}

EXPORT struct line *new_line(void);
struct line *new_line(void) {
    static struct line line = {{1, 2}, {3, 4}, 5};
    return &line;
}

/* Sizes and places as the compiler has them: of which struct, then size, alignment and the offsets of its fields. */
#define PLACE(type, field) offsetof(struct type, field)
EXPORT int layout_of(int which, uint32_t *out);
int layout_of(int which, uint32_t *out) {
    const uint32_t layouts[][8] = {
        {2, sizeof(struct one), _Alignof(struct one), PLACE(one, a)},
        {4, sizeof(struct three), _Alignof(struct three), PLACE(three, a), PLACE(three, b), PLACE(three, c)},
        {3, sizeof(struct point), _Alignof(struct point), PLACE(point, x), PLACE(point, y)},
        {4, sizeof(struct floats), _Alignof(struct floats), PLACE(floats, a), PLACE(floats, b)},
        {6, sizeof(struct mixed), _Alignof(struct mixed), PLACE(mixed, a), PLACE(mixed, b), PLACE(mixed, c),
         PLACE(mixed, d)},
        {5, sizeof(struct large), _Alignof(struct large), PLACE(large, id), PLACE(large, values), PLACE(large, name)},
        {5, sizeof(struct line), _Alignof(struct line), PLACE(line, from), PLACE(line, to), PLACE(line, width)},
        {6, sizeof(struct holder), _Alignof(struct holder), PLACE(holder, pointer), PLACE(holder, text),
         PLACE(holder, inner), PLACE(holder, last)},
    };
    memcpy(out, layouts[which] + 1, 7 * sizeof(uint32_t));
    return (int)layouts[which][0];
}

/* ---- Variables ---- */

EXPORT int counter = 7;
EXPORT const char *motto = "per aspera";
EXPORT struct point origin = {3, 4.5};
EXPORT int table[4] = {1, 2, 3, 4};

EXPORT int next_counter(void);
int next_counter(void) {
    return ++counter;
}

EXPORT double look_at_origin(void);
double look_at_origin(void) {
    return origin.x + origin.y + table[2];
}

/* ---- Callbacks ---- */

typedef int int_fn(int value);

EXPORT int call(int_fn *fn, int value);
int call(int_fn *fn, int value) {
    return fn(value);
}

EXPORT int call_often(int_fn *fn, int times);
int call_often(int_fn *fn, int times) {
    int sum = 0;
    for (int i = 0; i < times; i++)
        sum += fn(i);
    return sum;
}

typedef uint64_t any_fn(bool a, int8_t b, uint8_t c, int16_t d, uint16_t e, int32_t f, uint32_t g, int64_t h,
                        uint64_t i, float j, double k, void *l, const char *m);
EXPORT uint64_t call_any(any_fn *fn);
uint64_t call_any(any_fn *fn) {
    return fn(true, -128, 255, -32768, 65535, INT32_MIN, UINT32_MAX, INT64_MIN, UINT64_MAX, 1.5f, -2.25, NULL, "text");
}

#define RETURNS(name, type) \
    EXPORT type take_##name(type (*fn)(void)); \
    type take_##name(type (*fn)(void)) { \
        return fn(); \
    }
RETURNS(bool, bool)
RETURNS(i8, int8_t)
RETURNS(u16, uint16_t)
RETURNS(i64, int64_t)
RETURNS(float, float)
RETURNS(double, double)
RETURNS(pointer, void *)

EXPORT struct point call_point(struct point (*fn)(struct point point, struct large large), int x);
struct point call_point(struct point (*fn)(struct point point, struct large large), int x) {
    struct large large = {.id = x, .values = {1, 2, 3, 4, 5, 6, 7, 8}, .name = "large"};
    return fn((struct point){x, x * 2.0}, large);
}

static int_fn *stored;

EXPORT void store(int_fn *fn);
void store(int_fn *fn) {
    stored = fn;
}

EXPORT int call_stored(int value);
int call_stored(int value) {
    return stored(value);
}

/* ---- Threads ---- */

struct job {
    int_fn *fn;
    int from, to, sum;
    pthread_t thread;
};

static void *job_main(void *opaque) {
    struct job *job = opaque;
    for (int i = job->from; i < job->to; i++)
        job->sum += job->fn(i);
    return NULL;
}

/* Each of the threads calls that many times; the sum of all. It waits for them. */
EXPORT int call_on_threads(int_fn *fn, int threads, int times);
int call_on_threads(int_fn *fn, int threads, int times) {
    struct job jobs[16];
    int sum = 0;
    for (int i = 0; i < threads; i++) {
        jobs[i] = (struct job){.fn = fn, .from = i * times, .to = (i + 1) * times};
        pthread_create(&jobs[i].thread, NULL, job_main, &jobs[i]);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(jobs[i].thread, NULL);
        sum += jobs[i].sum;
    }
    return sum;
}

/* One that goes on by itself, and is waited for later. */
static struct job background;

EXPORT void start_thread(int_fn *fn, int times);
void start_thread(int_fn *fn, int times) {
    background = (struct job){.fn = fn, .to = times};
    pthread_create(&background.thread, NULL, job_main, &background);
}

EXPORT int join_thread(void);
int join_thread(void) {
    pthread_join(background.thread, NULL);
    return background.sum;
}

/* How often this thread was here. */
EXPORT int visits(void);
int visits(void) {
    static __thread int count;
    return ++count;
}

/* A gate that somebody waits at until another one opens it; how many wait. */
static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_changed = PTHREAD_COND_INITIALIZER;
static int gate_waiting, gate_permits;

EXPORT int gate_wait(int value);
int gate_wait(int value) {
    pthread_mutex_lock(&gate_lock);
    gate_waiting++;
    while (gate_permits == 0)
        pthread_cond_wait(&gate_changed, &gate_lock);
    gate_permits--;
    gate_waiting--;
    pthread_mutex_unlock(&gate_lock);
    return value;
}

EXPORT int gate_count(void);
int gate_count(void) {
    pthread_mutex_lock(&gate_lock);
    int count = gate_waiting;
    pthread_mutex_unlock(&gate_lock);
    return count;
}

EXPORT void gate_open(int count);
void gate_open(int count) {
    pthread_mutex_lock(&gate_lock);
    gate_permits += count;
    pthread_cond_broadcast(&gate_changed);
    pthread_mutex_unlock(&gate_lock);
}

/* The same with a buffer in its hands. */
EXPORT int64_t gate_sum(const uint8_t *bytes, size_t size);
int64_t gate_sum(const uint8_t *bytes, size_t size) {
    gate_wait(0);
    return sum_bytes(bytes, size);
}

/* And with a callback in between. */
EXPORT int gate_call(int_fn *fn, int value);
int gate_call(int_fn *fn, int value) {
    gate_wait(0);
    return fn(value);
}

/* As a call that takes so long, whoever waits for it. */
EXPORT void pause_for(int milliseconds);
void pause_for(int milliseconds) {
    poll(NULL, 0, milliseconds);
}
