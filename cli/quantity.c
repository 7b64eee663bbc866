/* SPDX-License-Identifier: MIT
 *
 * cli/quantity.c - numbers with units.
 */
#include "quantity.h"

#include <stdlib.h>
#include <string.h>

bool cli_parse_count(const char *text, uint64_t most, uint64_t *out) {
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || value < 1 || value > most)
        return false;
    *out = value;
    return true;
}

bool cli_parse_time(const char *text, int64_t *out) {
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"m", 60}, {"h", 3600}};
    char *end;
    double value = strtod(text, &end);
    if (*text < '0' || *text > '9')
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(end, units[i].name) == 0) {
            value *= units[i].seconds;
            *out = (int64_t)((value < 1e9 ? value : 1e9) * 1e9);
            return value >= 1e-6;
        }
    }
    return false;
}

bool cli_parse_size(const char *text, size_t *out) {
    static const char units[] = "kmgt";
    char *end;
    double value = strtod(text, &end);
    if (*text < '0' || *text > '9')
        return false;
    const char *unit = *end ? strchr(units, *end | 0x20) : NULL;
    for (const char *at = units; unit && at <= unit; at++)
        value *= 1024;
    if (unit)
        end++;
    if (*end || value < 1 || value > 0x1p48)
        return false;
    *out = (size_t)value;
    return true;
}
