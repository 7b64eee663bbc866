/* SPDX-License-Identifier: MIT
 *
 * install/program.c - somebody else's program: all it knows of weft is what was installed.
 */
#include <stdio.h>
#include <string.h>
#include <weft.h>

static int answer(void *arg) {
    return *(int *)arg;
}

int main(void) {
    int given = 42;
    if (weft_run(NULL, answer, &given) != given) {
        fprintf(stderr, "weft_run did not hand back the answer\n");
        return 1;
    }
    if (strcmp(weft_version(), WEFT_VERSION_STRING) != 0) {
        fprintf(stderr, "library %s, headers %s\n", weft_version(), WEFT_VERSION_STRING);
        return 1;
    }
    printf("weft %s works\n", weft_version());
    return 0;
}
