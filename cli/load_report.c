/* SPDX-License-Identifier: MIT
 *
 * cli/load_report.c - what "weft load" says: a bar while it runs, figures for people or for programs at the end.
 */
#include <stdio.h>
#include <string.h>

#include "load.h"

enum { BAR = 30 };

static const char *const error_names[LOAD_ERRORS] = {"connect", "timeout", "closed", "malformed", "other"};

static const struct {
    const char *name;
    double share;
} quantiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}};

static void report_text(const struct load *load);
static void report_json(const struct load *load);
static uint64_t asked(const struct load *load);
static uint64_t unsent(const struct load *load);
static double per_second(const struct load *load, uint64_t count);
static const char *format_time(char *text, size_t size, uint64_t ns);
static const char *format_bytes(char *text, size_t size, double bytes);

uint64_t load_failed(const struct load *load) {
    uint64_t failed = 0;
    for (int i = 0; i < LOAD_ERRORS; i++)
        failed += load->errors[i];
    return failed;
}

void load_report_progress(const struct load *load) {
    const struct load_plan *plan = &load->plan;
    double seconds = (double)(weft_now() - load->start) / 1e9;
    double by_count = (double)asked(load) / (double)plan->limit;
    double by_time = plan->duration == WEFT_NEVER ? 0 : seconds * 1e9 / (double)plan->duration;
    double done = by_count > by_time ? by_count : by_time;
    done = done < 1 ? done : 1;
    char bar[BAR + 1];
    int full = (int)(done * BAR);
    memset(bar, '#', (size_t)full);
    memset(bar + full, '.', (size_t)(BAR - full));
    bar[BAR] = 0;
    fprintf(stderr, "\r[%s] %llu requests, %.0f a second, %llu errors ", bar, (unsigned long long)asked(load),
            seconds > 0 ? (double)load->answered / seconds : 0, (unsigned long long)load_failed(load));
    fflush(stderr);
}

void load_report(const struct load *load) {
    if (load->plan.as_json)
        report_json(load);
    else
        report_text(load);
}

static void report_text(const struct load *load) {
    char text[32], more[32];
    uint64_t failed = load_failed(load);
    printf("%s: %.2f s, %u connections", load->plan.url, (double)load->elapsed / 1e9, load->plan.connections);
    if (load->plan.rate > 0)
        printf(", %g requests a second wanted", load->plan.rate);
    printf("\n  requests   %llu, %.1f answers a second\n", (unsigned long long)asked(load),
           per_second(load, load->answered));
    printf("  errors     %llu", (unsigned long long)failed);
    for (int i = 0; i < LOAD_ERRORS; i++)
        if (load->errors[i])
            printf(", %s %llu", error_names[i], (unsigned long long)load->errors[i]);
    if (unsent(load))
        printf("\n  unsent     %llu that were due: no connection was free", (unsigned long long)unsent(load));
    printf("\n  statuses  ");
    for (int i = 0; i < LOAD_STATUSES; i++)
        if (load->statuses[i])
            printf(" %d: %llu", i, (unsigned long long)load->statuses[i]);
    printf("\n  received   %s, %s a second\n", format_bytes(text, sizeof text, (double)load->received),
           format_bytes(more, sizeof more, per_second(load, load->received)));
    printf("  latency   ");
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++)
        printf(" %s %s,", quantiles[i].name,
               format_time(text, sizeof text, cli_histogram_quantile(&load->latency, quantiles[i].share)));
    printf(" max %s, mean %s\n", format_time(text, sizeof text, load->latency.largest),
           format_time(more, sizeof more, (uint64_t)cli_histogram_mean(&load->latency)));
}

/* The URL holds nothing that JSON would have to quote: load.c has seen to that. */
static void report_json(const struct load *load) {
    const char *comma = "";
    printf("{\"url\": \"%s\", \"connections\": %u, \"rate\": %g, \"seconds\": %.6f, \"requests\": %llu, "
           "\"answered\": %llu, \"unsent\": %llu, \"connects\": %llu,\n \"errors\": {",
           load->plan.url, load->plan.connections, load->plan.rate, (double)load->elapsed / 1e9,
           (unsigned long long)asked(load), (unsigned long long)load->answered, (unsigned long long)unsent(load),
           (unsigned long long)load->connects);
    for (int i = 0; i < LOAD_ERRORS; i++)
        printf("%s\"%s\": %llu", i ? ", " : "", error_names[i], (unsigned long long)load->errors[i]);
    printf("},\n \"statuses\": {");
    for (int i = 0; i < LOAD_STATUSES; i++) {
        if (load->statuses[i]) {
            printf("%s\"%d\": %llu", comma, i, (unsigned long long)load->statuses[i]);
            comma = ", ";
        }
    }
    printf("},\n \"bytes\": %llu, \"per_second\": %.3f,\n \"latency_us\": {", (unsigned long long)load->received,
           per_second(load, load->answered));
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++)
        printf("\"%s\": %.3f, ", quantiles[i].name,
               (double)cli_histogram_quantile(&load->latency, quantiles[i].share) / 1e3);
    printf("\"max\": %.3f, \"mean\": %.3f}}\n", (double)load->latency.largest / 1e3,
           cli_histogram_mean(&load->latency) / 1e3);
}

static uint64_t asked(const struct load *load) {
    return load->answered + load_failed(load);
}

/* Requests that were due and never begun, since every connection was busy to the end. */
static uint64_t unsent(const struct load *load) {
    const struct load_plan *plan = &load->plan;
    if (plan->rate == 0)
        return 0;
    double due = (double)(load->elapsed < plan->duration ? load->elapsed : plan->duration) / 1e9 * plan->rate;
    uint64_t wanted = due < (double)plan->limit ? (uint64_t)due : plan->limit;
    return wanted > asked(load) ? wanted - asked(load) : 0;
}

static double per_second(const struct load *load, uint64_t count) {
    return load->elapsed > 0 ? (double)count * 1e9 / (double)load->elapsed : 0;
}

static const char *format_time(char *text, size_t size, uint64_t ns) {
    double value = (double)ns;
    if (value < 1e6)
        snprintf(text, size, "%.1f us", value / 1e3);
    else if (value < 1e9)
        snprintf(text, size, "%.2f ms", value / 1e6);
    else
        snprintf(text, size, "%.3f s", value / 1e9);
    return text;
}

static const char *format_bytes(char *text, size_t size, double bytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    unsigned unit = 0;
    for (; bytes >= 1024 && unit < 4; unit++)
        bytes /= 1024;
    snprintf(text, size, unit ? "%.2f %s" : "%.0f %s", bytes, units[unit]);
    return text;
}
