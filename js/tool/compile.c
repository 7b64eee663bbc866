/* SPDX-License-Identifier: MIT
 *
 * js/tool/compile.c - at build time: compiles the files of js/lib, so that no instance has to parse them.
 *
 *     weft-js-compile FILE.js NAME OUT
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine.h"

static char *read_all(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        return NULL;
    long length = ftell(file);
    char *text = length >= 0 ? calloc(1, (size_t)length + 1) : NULL;
    rewind(file);
    *size = text ? fread(text, 1, (size_t)length, file) : 0;
    fclose(file);
    return text;
}

static int fail(JSContext *context, const char *path) {
    JSValue error = JS_GetException(context);
    const char *text = JS_ToCString(context, error);
    JSValue stack = JS_GetPropertyStr(context, error, "stack");
    const char *frames = JS_ToCString(context, stack);
    fprintf(stderr, "%s: %s\n%s", path, text ? text : "?", frames ? frames : "");
    return 1;
}

int main(int argc, char **argv) {
    size_t size, code_size;
    if (argc != 4) {
        fprintf(stderr, "usage: weft-js-compile FILE.js NAME OUT\n");
        return 2;
    }
    char *text = read_all(argv[1], &size);
    FILE *out = fopen(argv[3], "wb");
    if (!text || !out) {
        perror(text ? argv[3] : argv[1]);
        return 1;
    }
    JSRuntime *runtime = JS_NewRuntime();
    JSContext *context = JS_NewContext(runtime);
    JSValue compiled =
        JS_Eval(context, text, size, argv[2], JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_STRICT | JS_EVAL_FLAG_COMPILE_ONLY);
    if (JS_IsException(compiled))
        return fail(context, argv[1]);
    uint8_t *code = JS_WriteObject(context, &code_size, compiled, JS_WRITE_OBJ_BYTECODE | JS_WRITE_OBJ_STRIP_SOURCE);
    if (!code)
        return fail(context, argv[1]);
    bool is_written = fwrite(code, 1, code_size, out) == code_size;
    if (fclose(out) != 0 || !is_written) {
        perror(argv[3]);
        return 1;
    }
    js_free(context, code);
    JS_FreeValue(context, compiled);
    JS_FreeContext(context);
    JS_FreeRuntime(runtime);
    free(text);
    return 0;
}
