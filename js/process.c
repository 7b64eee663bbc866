/* SPDX-License-Identifier: MIT
 *
 * js/process.c - child processes of scripts: started, waited for, killed. A whole run in one call: js/process_run.c.
 */
#include "process.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "select.h"

/* What the list of wf_js_program_take has at which place, and the kinds of a child's three descriptors. */
enum { AT_FILE, AT_ARGV, AT_ENVIRONMENT, AT_FOLDER, AT_GROUP, AT_STDIO };
enum { STDIO_INHERIT, STDIO_NULL, STDIO_PIPE, STDIO_STREAM, STDIO_NUMBER, STDIO_OUT };

static JSClassID process_class;

/* ---- What to start ---- */

static void free_texts(char **texts) {
    for (char **text = texts; text && *text; text++)
        free(*text);
    free(texts);
}

/* A list of texts, copied. Null: an exception. */
static char **copy_texts(JSContext *context, JSValueConst list) {
    int64_t length;
    if (JS_GetLength(context, list, &length))
        return NULL;
    char **texts = calloc((size_t)length + 1, sizeof *texts);
    if (!texts) {
        JS_ThrowOutOfMemory(context);
        return NULL;
    }
    for (uint32_t i = 0; i < (uint32_t)length; i++) {
        JSValue value = JS_GetPropertyUint32(context, list, i);
        texts[i] = wf_js_copy_text(context, value);
        JS_FreeValue(context, value);
        if (!texts[i]) {
            free_texts(texts);
            return NULL;
        }
    }
    return texts;
}

/* A descriptor by its number: a copy of it is lent, since it may be one that weft knows already. */
static int lend_number(struct wf_js_program *program, int which, int number) {
    int copy = dup(number);
    if (copy < 0)
        return -errno;
    int error = weft_adopt(&program->lent[which], copy, 0);
    if (error)
        close(copy);
    return error;
}

static bool take_stdio(JSContext *context, struct wf_js_program *program, int which, JSValueConst list) {
    static const int kinds[] = {
        [STDIO_INHERIT] = WEFT_STDIO_INHERIT, [STDIO_NULL] = WEFT_STDIO_NULL, [STDIO_PIPE] = WEFT_STDIO_PIPE,
        [STDIO_STREAM] = WEFT_STDIO_FD,       [STDIO_NUMBER] = WEFT_STDIO_FD, [STDIO_OUT] = WEFT_STDIO_OUT};
    weft_stdio *const all[] = {&program->options.in, &program->options.out, &program->options.err};
    JSValue kind_value = JS_GetPropertyUint32(context, list, (uint32_t)(AT_STDIO + 2 * which));
    JSValue thing = JS_GetPropertyUint32(context, list, (uint32_t)(AT_STDIO + 2 * which + 1));
    uint32_t kind = JS_IsNumber(kind_value) ? (uint32_t)JS_VALUE_GET_INT(kind_value) : UINT32_MAX;
    int32_t number = -1;
    int error = 0;
    if (kind > STDIO_OUT) {
        JS_ThrowTypeError(context, "no such kind of descriptor");
    } else if (kind == STDIO_STREAM) {
        struct wf_js_stream *stream = wf_js_stream_of(context, thing);
        if (stream) {
            all[which]->fd = stream->fd;
            program->streams[which] = JS_DupValue(context, thing);
        }
    } else if (kind == STDIO_NUMBER && !JS_ToInt32(context, &number, thing)) {
        error = lend_number(program, which, number);
        all[which]->fd = program->lent[which];
        if (error)
            wf_js_throw_system(context, error, "spawn", NULL, NULL);
    }
    JS_FreeValue(context, thing);
    if (JS_HasException(context))
        return false;
    all[which]->kind = kinds[kind];
    return true;
}

static bool take_parts(JSContext *context, struct wf_js_program *program, const JSValue *parts) {
    program->file = wf_js_copy_text(context, parts[AT_FILE]);
    program->argv = program->file ? copy_texts(context, parts[AT_ARGV]) : NULL;
    if (!program->argv)
        return false;
    if (!JS_IsUndefined(parts[AT_ENVIRONMENT]) && !(program->environment = copy_texts(context, parts[AT_ENVIRONMENT])))
        return false;
    if (!JS_IsUndefined(parts[AT_FOLDER]) && !(program->folder = wf_js_copy_text(context, parts[AT_FOLDER])))
        return false;
    return !JS_ToInt32(context, &program->options.group, parts[AT_GROUP]);
}

bool wf_js_program_take(JSContext *context, struct wf_js_program *program, JSValueConst list) {
    JSValue parts[AT_STDIO];
    *program = (struct wf_js_program){.streams = {JS_UNDEFINED, JS_UNDEFINED, JS_UNDEFINED}};
    for (uint32_t i = 0; i < AT_STDIO; i++)
        parts[i] = JS_GetPropertyUint32(context, list, i);
    bool is_good = take_parts(context, program, parts);
    for (uint32_t i = 0; i < AT_STDIO; i++)
        JS_FreeValue(context, parts[i]);
    for (int i = 0; is_good && i < 3; i++)
        is_good = take_stdio(context, program, i, list);
    if (!is_good)
        wf_js_program_drop(context, program);
    return is_good;
}

void wf_js_program_drop(JSContext *context, struct wf_js_program *program) {
    for (int i = 0; i < 3; i++) {
        if (program->lent[i].bits)
            (void)weft_close(program->lent[i]);
        JS_FreeValue(context, program->streams[i]);
    }
    free(program->file);
    free(program->folder);
    free_texts(program->argv);
    free_texts(program->environment);
}

int wf_js_program_start(struct wf_js_program *program, weft_process *out, weft_fd pipes[3]) {
    program->options.file = program->file;
    program->options.folder = program->folder;
    program->options.environment = (const char *const *)program->environment;
    program->options.default_signals = true; /* as those of Node */
    return weft_process_spawn(out, (const char *const *)program->argv, &program->options, pipes);
}

/* ---- A child ---- */

struct child {
    weft_process process;
};

static void child_finalize(JSRuntime *runtime, JSValueConst value) {
    struct child *child = JS_GetOpaque(value, process_class);
    (void)runtime;
    if (child)
        (void)weft_process_free(child->process);
    free(child);
}

static struct child *child_of(JSContext *context, JSValueConst value) {
    return JS_GetOpaque2(context, value, process_class);
}

/* -> [child, id, stream or null, stream or null, stream or null] */
static JSValue result_of(JSContext *context, weft_process process, const weft_fd *pipes) {
    struct child *child = malloc(sizeof *child);
    JSValue object = child ? JS_NewObjectClass(context, (int)process_class) : JS_ThrowOutOfMemory(context);
    if (!child || JS_IsException(object)) {
        free(child);
        (void)weft_process_kill(process, SIGKILL);
        (void)weft_process_free(process);
        for (int i = 0; i < 3; i++)
            if (pipes[i].bits)
                (void)weft_close(pipes[i]);
        return object;
    }
    child->process = process;
    JS_SetOpaque(object, child);
    JSValue list = JS_NewArray(context);
    JS_SetPropertyUint32(context, list, 0, object);
    JS_SetPropertyUint32(context, list, 1, JS_NewInt32(context, weft_process_id(process)));
    for (uint32_t i = 0; i < 3; i++)
        JS_SetPropertyUint32(context, list, 2 + i, pipes[i].bits ? wf_js_stream_new(context, pipes[i]) : JS_NULL);
    return list;
}

/* processSpawn([file, ...]), or a negative number: what kept it from running. See wf_js_program_take. */
static JSValue js_process_spawn(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_program program;
    weft_process process;
    weft_fd pipes[3];
    (void)self;
    if (count < 1 || !wf_js_program_take(context, &program, arguments[0]))
        return JS_EXCEPTION;
    int error = wf_js_program_start(&program, &process, pipes);
    wf_js_program_drop(context, &program);
    return error ? JS_NewInt32(context, error) : result_of(context, process, pipes);
}

struct ending {
    struct wf_js_wait wait;
    weft_process process;
    JSValue object; /* the child's */
    weft_time until;
    weft_process_end end;
};

static int end_wait(struct wf_js_wait *wait) {
    struct ending *ending = (struct ending *)wait;
    return weft_process_wait(ending->process, &ending->end, ending->until);
}

/* -> [code, signal] */
static JSValue end_of(JSContext *context, const weft_process_end *end) {
    JSValue list = JS_NewArray(context);
    JS_SetPropertyUint32(context, list, 0, JS_NewInt32(context, end->code));
    JS_SetPropertyUint32(context, list, 1, JS_NewInt32(context, end->signal));
    return list;
}

static JSValue end_finish(JSContext *context, struct wf_js_wait *wait) {
    struct ending *ending = (struct ending *)wait;
    JS_FreeValue(context, ending->object);
    return wait->status ? wf_js_throw_errno(context, wait->status, "wait") : end_of(context, &ending->end);
}

/* processWait(child, milliseconds) -> [code, signal] */
static JSValue js_process_wait(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct child *child = count > 1 ? child_of(context, arguments[0]) : NULL;
    weft_time until;
    (void)self;
    if (!child || !wf_js_until(context, arguments[1], &until))
        return JS_EXCEPTION;
    struct ending *ending = calloc(1, sizeof *ending);
    if (!ending)
        return JS_ThrowOutOfMemory(context);
    ending->wait = (struct wf_js_wait){.wait = end_wait, .finish = end_finish};
    ending->process = child->process;
    ending->object = JS_DupValue(context, arguments[0]);
    ending->until = until;
    return wf_js_perform(context, &ending->wait);
}

static bool end_begin(JSContext *context, struct wf_js_case *one, JSValueConst value, weft_case *out) {
    struct child *child = child_of(context, one->object);
    (void)value;
    if (!child)
        return false;
    one->is_outside = true;
    *out = weft_on_process_end(child->process, &one->of.end);
    return true;
}

static JSValue end_case_finish(JSContext *context, struct wf_js_case *one, bool is_chosen, int status) {
    if (!is_chosen)
        return JS_UNDEFINED;
    return status ? wf_js_throw_errno(context, status, "wait") : end_of(context, &one->of.end);
}

const struct wf_js_case_kind wf_js_end_case = {.begin = end_begin, .finish = end_case_finish};

/* processKill(child, signal): 0, or a negative number */
static JSValue js_process_kill(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct child *child = count > 1 ? child_of(context, arguments[0]) : NULL;
    int32_t number;
    (void)self;
    if (!child || JS_ToInt32(context, &number, arguments[1]))
        return JS_EXCEPTION;
    return JS_NewInt32(context, weft_process_kill(child->process, number));
}

/* kill(process id, signal): 0, or a negative number */
static JSValue js_kill(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    int32_t id, number;
    (void)self;
    if (count < 2 || JS_ToInt32(context, &id, arguments[0]) || JS_ToInt32(context, &number, arguments[1]))
        return JS_EXCEPTION;
    return JS_NewInt32(context, kill(id, number) == 0 ? 0 : -errno);
}

int wf_js_add_processes(JSContext *context, JSValueConst host) {
    static const JSClassDef definition = {.class_name = "ProcessHandle", .finalizer = child_finalize};
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("processSpawn", 1, js_process_spawn),
        JS_CFUNC_DEF("processWait", 2, js_process_wait),
        JS_CFUNC_DEF("processKill", 2, js_process_kill),
        JS_CFUNC_DEF("kill", 2, js_kill),
    };
    wf_js_new_class(JS_GetRuntime(context), &process_class, &definition);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
