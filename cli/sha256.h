/* SPDX-License-Identifier: MIT
 *
 * cli/sha256.h - SHA-256 (FIPS 180-4), to name cached programs by what they were made from.
 *
 *     struct cli_sha256 hash;
 *     cli_sha256_init(&hash);
 *     cli_sha256_add(&hash, "abc", 3);
 *     char name[CLI_SHA256_HEX];
 *     cli_sha256_finish(&hash, name);      // "ba7816bf..."
 */
#ifndef CLI_SHA256_H
#define CLI_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { CLI_SHA256_HEX = 65 }; /* 64 digits and a zero */

struct cli_sha256 {
    uint32_t state[8];
    uint64_t size; /* bytes so far; the last size % 64 of them are in block */
    unsigned char block[64];
};

void cli_sha256_init(struct cli_sha256 *hash);
void cli_sha256_add(struct cli_sha256 *hash, const void *bytes, size_t size);
/* Adds a string with its terminating zero, so that "ab","c" and "a","bc" differ. */
void cli_sha256_add_string(struct cli_sha256 *hash, const char *string);
void cli_sha256_finish(struct cli_sha256 *hash, char out[CLI_SHA256_HEX]);

#endif
