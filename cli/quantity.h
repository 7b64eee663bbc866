/* SPDX-License-Identifier: MIT
 *
 * cli/quantity.h - numbers with units, as people write them behind options. False: it is none, or out of bounds.
 */
#ifndef CLI_QUANTITY_H
#define CLI_QUANTITY_H

#include <stddef.h>
#include <stdint.h>

#include "weft/base.h"

/* A whole number from 1 to most. */
bool cli_parse_count(const char *text, uint64_t most, uint64_t *out);
/* A time in nanoseconds, of a microsecond at least: 10s, 500ms, 2m; without a unit it is seconds. */
bool cli_parse_time(const char *text, int64_t *out);
/* Bytes: 64m, 512k, 1g, in powers of 1024; without a unit it is bytes. */
bool cli_parse_size(const char *text, size_t *out);

#endif
