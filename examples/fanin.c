/* SPDX-License-Identifier: MIT
 *
 * examples/fanin.c - fan-in: one fiber listens to many others, and gives up on those that say nothing.
 *
 * Three stations report at their own pace, each on its own channel, and one has lost its voice. The listener waits for all of
 * them at once with weft_select. A station that has said all it had to say closes its channel; its case is then made one that
 * never comes, by a null channel. The moment at which the listener's patience ends is just another case.
 */
#include <errno.h>
#include <stdio.h>

#include <weft.h>

enum { STATIONS = 4, SILENT = 2, REPORTS = 5 };

struct station {
    const char *name;
    weft_chan *reports;
    int64_t pause;
};

static void must(int error, const char *what) {
    if (error)
        weft_fatal("%s: error %d", what, -error);
}

static void *report(void *arg) {
    struct station *station = arg;
    for (int i = 1; i <= REPORTS; i++) {
        must(weft_sleep(weft_after(station->pause)), "cannot sleep");
        must(weft_chan_send(station->reports, &i, WEFT_NEVER), "cannot send");
    }
    must(weft_chan_close(station->reports), "cannot close");
    return NULL;
}

/* Returns how many reports came before patience ended. */
static int listen_to(struct station *stations, int64_t patience) {
    weft_case cases[STATIONS + 1];
    int heard = 0, number;
    for (int i = 0; i < STATIONS; i++)
        cases[i] = weft_on_receive(stations[i].reports, &number);
    for (int open = STATIONS; open > 0;) {
        cases[STATIONS] = weft_on_time(weft_after(patience)); /* since the last report */
        int chosen = weft_select(cases, STATIONS + 1, WEFT_NEVER);
        if (chosen < 0)
            weft_fatal("cannot select: error %d", -chosen);
        if (chosen == STATIONS) {
            printf("nothing for a while; %d of %d stations never said goodbye\n", open, STATIONS);
            return heard;
        }
        if (cases[chosen].status == -EPIPE) {
            printf("%s has finished\n", stations[chosen].name);
            cases[chosen] = weft_on_receive(NULL, NULL);
            open--;
            continue;
        }
        printf("%s reports %d\n", stations[chosen].name, number);
        heard++;
    }
    return heard;
}

static int app(void *arg) {
    struct station stations[STATIONS] = {{"north", NULL, 1 * WEFT_MILLISECOND},
                                         {"east", NULL, 2 * WEFT_MILLISECOND},
                                         {"south", NULL, 0},
                                         {"west", NULL, 3 * WEFT_MILLISECOND}};
    (void)arg;
    for (int i = 0; i < STATIONS; i++) {
        must(weft_chan_new(&stations[i].reports, sizeof(int), 0), "cannot make a channel");
        if (i != SILENT)
            must(weft_go(report, &stations[i]), "cannot spawn");
    }
    /* Long enough for a busy machine: what is shown is the silence of one, not the slowness of all. */
    int heard = listen_to(stations, WEFT_SECOND);
    for (int i = 0; i < STATIONS; i++)
        weft_chan_free(stations[i].reports);
    return heard == (STATIONS - 1) * REPORTS ? 0 : 1;
}

int main(void) {
    return weft_run(NULL, app, NULL);
}
