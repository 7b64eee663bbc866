/* SPDX-License-Identifier: MIT
 *
 * install/script.c - somebody else's program with a script inside: all it knows of weft and its JavaScript is what was installed.
 */
#include <stdio.h>
#include <string.h>
#include <weft.h>
#include <weft/js.h>

static weft_js_value twice(weft_js *js, const weft_js_arguments *given) {
    return weft_js_number(js, 2 * weft_js_as_number(js, given->values[0]));
}

static int run(void *arg) {
    static const char text[] = "import { go, sleep } from 'weft:go';\n"
                               "console.log(await go(() => { sleep(1); return `weft ${twice(21)} works`; }));\n";
    weft_loop_options options = {.stays = true};
    weft_loop *loop;
    weft_js *js;
    (void)arg;
    if (weft_loop_new(&loop, &options) || weft_js_new(&js, loop, NULL) || weft_js_enter(js))
        return 1;
    weft_js_set(js, weft_js_global(js), "twice", weft_js_function(js, "twice", 1, twice, NULL, NULL));
    weft_js_leave(js);
    int code = weft_js_eval(js, text, strlen(text), "text") ? 1 : weft_js_finish(js);
    weft_js_free(js);
    weft_loop_unref(loop);
    return code;
}

int main(void) {
    return weft_run(NULL, run, NULL);
}
