/* SPDX-License-Identifier: MIT
 *
 * examples/tiles.c - an image is drawn in tiles by a pool of threads, with a progress bar.
 *
 *     tiles [FILE]
 *
 * Each tile of the Mandelbrot set is a work. Those in the middle, which people look at first, have a higher priority than those
 * at the edge. While the pool is not idle its clock calls the handler every few milliseconds, which draws the bar if somebody
 * is there to see it: standard error is a terminal. The image is then made a second time, all rows by one parallel loop, and
 * both must be the same. With a FILE the image is written there as a PPM, else to a temporary file.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft.h>

enum { WIDTH = 320, HEIGHT = 240, TILE = 32, COLUMNS = WIDTH / TILE, ROWS = (HEIGHT + TILE - 1) / TILE, DEPTH = 120 };
enum { TILES = COLUMNS * ROWS, BAR = 40 };

typedef uint8_t image[HEIGHT][WIDTH][3];

struct tile {
    image *into;
    int left, top;
};

struct progress {
    atomic_int tiles; /* that are drawn */
    atomic_int ended; /* generations of the pool that the handler was told of */
    bool is_watched;
};

static image by_tiles, by_rows;

static void must(int error, const char *what) {
    if (error)
        weft_fatal("%s: error %d", what, -error);
}

/* One function for both ways: compilers may round differently in two copies of it. */
__attribute__((noinline)) static void draw_part(image *into, int left, int top, int right, int bottom) {
    for (int y = top; y < bottom; y++) {
        for (int x = left; x < right; x++) {
            double real = (x - 0.7 * WIDTH) * 3 / WIDTH, imaginary = (y - 0.5 * HEIGHT) * 2.4 / HEIGHT;
            double a = 0, b = 0;
            int depth = 0;
            for (; depth < DEPTH && a * a + b * b < 4; depth++) {
                double next = a * a - b * b + real;
                b = 2 * a * b + imaginary;
                a = next;
            }
            uint8_t *pixel = (*into)[y][x];
            pixel[0] = depth == DEPTH ? 0 : (uint8_t)(depth * 8);
            pixel[1] = depth == DEPTH ? 0 : (uint8_t)(depth * 4);
            pixel[2] = depth == DEPTH ? 0 : (uint8_t)(255 - depth);
        }
    }
}

static int draw_tile(void *arg) {
    struct tile *tile = arg;
    int bottom = tile->top + TILE < HEIGHT ? tile->top + TILE : HEIGHT;
    draw_part(tile->into, tile->left, tile->top, tile->left + TILE, bottom);
    return 0;
}

static int draw_rows(int64_t begin, int64_t end, void *arg) {
    draw_part(arg, 0, (int)begin, WIDTH, (int)end);
    return 0;
}

/* The callback of every work, before anybody who waits is told. */
static int count_tile(const weft_result *result, void *arg) {
    struct progress *progress = arg;
    if (result->status == WEFT_WORK_SUCCEEDED)
        atomic_fetch_add(&progress->tiles, 1);
    return 0;
}

static int show_progress(const weft_pool_event *event, void *arg) {
    struct progress *progress = arg;
    int done = atomic_load(&progress->tiles);
    bool is_over = event->kind == WEFT_POOL_IDLED;
    atomic_fetch_add(&progress->ended, is_over);
    if (progress->is_watched)
        fprintf(stderr, "\r[%-*.*s] %3d%%%s", BAR, done * BAR / TILES, "########################################",
                done * 100 / TILES, is_over ? "\n" : "");
    return 0;
}

/* Higher in the middle. */
static int priority_of(int column, int row) {
    return -abs(2 * column - COLUMNS + 1) - abs(2 * row - ROWS + 1);
}

static void draw_by_tiles(weft_pool *pool, struct tile *tiles) {
    for (int i = 0; i < TILES; i++) {
        int column = i % COLUMNS, row = i / COLUMNS;
        tiles[i] = (struct tile){&by_tiles, column * TILE, row * TILE};
        weft_work_options options = {.priority = priority_of(column, row)};
        must(weft_pool_submit_with(pool, NULL, &options, draw_tile, &tiles[i]), "cannot submit");
    }
    must(weft_pool_start(pool), "cannot start");
    must(weft_pool_wait(pool, WEFT_NEVER), "cannot wait");
}

static bool write_image(const char *path) {
    FILE *file = path ? fopen(path, "wb") : tmpfile();
    if (!file)
        return false;
    bool is_good =
        fprintf(file, "P6\n%d %d\n255\n", WIDTH, HEIGHT) > 0 && fwrite(by_tiles, sizeof by_tiles, 1, file) == 1;
    return fclose(file) == 0 && is_good;
}

int main(int argc, char **argv) {
    static struct tile tiles[TILES];
    struct progress progress = {.is_watched = isatty(STDERR_FILENO)};
    weft_pool *pool;
    weft_pool_options options = {
        .name = "tiles",
        .suspended = true, /* so that the priorities count from the first tile on */
        .callback = count_tile,
        .callback_arg = &progress,
        .handler = show_progress,
        .handler_arg = &progress,
        .events = 1u << WEFT_POOL_TICK | 1u << WEFT_POOL_IDLED,
        .tick = 10 * WEFT_MILLISECOND,
    };
    must(weft_pool_new(&pool, &options), "cannot make a pool");
    draw_by_tiles(pool, tiles);
    int drawn = atomic_load(&progress.tiles), ended = atomic_load(&progress.ended);

    weft_pool *plain;
    must(weft_pool_new(&plain, NULL), "cannot make a pool");
    must(weft_parallel_for(plain, 0, HEIGHT, 0, draw_rows, &by_rows), "cannot draw");
    weft_pool_free(plain);
    weft_pool_free(pool);

    bool is_same = memcmp(by_tiles, by_rows, sizeof by_tiles) == 0;
    bool is_written = write_image(argc > 1 ? argv[1] : NULL);
    printf("%d of %d tiles, %d generation; the images are %s; %s\n", drawn, TILES, ended,
           is_same ? "the same" : "different", is_written ? "written" : "not written");
    return drawn == TILES && ended == 1 && is_same && is_written ? 0 : 1;
}
