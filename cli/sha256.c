/* SPDX-License-Identifier: MIT
 *
 * cli/sha256.c - the hash as the standard writes it, one block at a time.
 *
 * The sources it reads are a few kilobytes, so nothing is unrolled and no instruction of the processor is asked for.
 * A weaker hash would do against accidents; this one also keeps a program made on purpose from passing for another.
 */
#include "sha256.h"

#include <string.h>

static const uint32_t sha256_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static void sha256_mix(struct cli_sha256 *hash);
static uint32_t rotate_right(uint32_t word, int count);

void cli_sha256_init(struct cli_sha256 *hash) {
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(hash->state, start, sizeof start);
    hash->size = 0;
}

void cli_sha256_add(struct cli_sha256 *hash, const void *bytes, size_t size) {
    const unsigned char *from = bytes;
    for (size_t i = 0; i < size; i++) {
        hash->block[hash->size++ % 64] = from[i];
        if (hash->size % 64 == 0)
            sha256_mix(hash);
    }
}

void cli_sha256_add_string(struct cli_sha256 *hash, const char *string) {
    cli_sha256_add(hash, string, strlen(string) + 1);
}

void cli_sha256_finish(struct cli_sha256 *hash, char out[CLI_SHA256_HEX]) {
    uint64_t bits = hash->size * 8;
    cli_sha256_add(hash, "\x80", 1);
    while (hash->size % 64 != 56)
        cli_sha256_add(hash, "", 1);
    for (int shift = 56; shift >= 0; shift -= 8) {
        unsigned char byte = (unsigned char)(bits >> shift);
        cli_sha256_add(hash, &byte, 1);
    }
    for (int i = 0; i < 64; i++)
        out[i] = "0123456789abcdef"[(hash->state[i / 8] >> (28 - i % 8 * 4)) & 15];
    out[64] = '\0';
}

static void sha256_mix(struct cli_sha256 *hash) {
    uint32_t words[64], s[8];
    for (int i = 0; i < 16; i++) {
        const unsigned char *at = hash->block + 4 * i;
        words[i] = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    }
    for (int i = 16; i < 64; i++) {
        uint32_t a = words[i - 15], b = words[i - 2];
        words[i] = words[i - 16] + (rotate_right(a, 7) ^ rotate_right(a, 18) ^ a >> 3) + words[i - 7] +
                   (rotate_right(b, 17) ^ rotate_right(b, 19) ^ b >> 10);
    }
    memcpy(s, hash->state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t high = rotate_right(s[4], 6) ^ rotate_right(s[4], 11) ^ rotate_right(s[4], 25);
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t first = s[7] + high + choice + sha256_constants[i] + words[i];
        uint32_t low = rotate_right(s[0], 2) ^ rotate_right(s[0], 13) ^ rotate_right(s[0], 22);
        uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += first;
        s[0] = first + low + majority;
    }
    for (int i = 0; i < 8; i++)
        hash->state[i] += s[i];
}

static uint32_t rotate_right(uint32_t word, int count) {
    return word >> count | word << (32 - count);
}
