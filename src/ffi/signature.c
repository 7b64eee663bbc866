/* SPDX-License-Identifier: MIT
 *
 * ffi/signature.c - reading signatures.
 *
 *     signature = { type | "." } ")" ( "v" | type )        type = letter | "{" type { type } "}"
 *
 * The text is read twice. The first time it is checked, counted and laid out, and everything that is wrong with it is
 * said with its place; nothing is allocated. The second time, in memory of the right size, types are built from a text
 * that is known to be good.
 */
#ifdef WF_LIBFFI

#include "ffi/signature.h"

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "ffi/direct.h"
#include "ffi/dynamic.h"
#include "os/memory.h"

/* Letters by which an argument is never passed when it is a variable one: C makes an int or a double of it. */
#define PROMOTED "BcCsSf"

struct signature_scan {
    const char *text;
    const char *at;
    uint32_t arguments;
    uint32_t fixed; /* arguments before the dot */
    uint32_t structs;
    uint32_t members; /* of all structs */
    bool is_variadic;
    size_t result_size; /* 0 for none */
};

struct type_layout {
    size_t size;
    size_t alignment;
};

struct type_builder {
    const char *at;
    ffi_type *structs;   /* the next free one */
    ffi_type **pointers; /* the same */
};

static int scan_signature(struct signature_scan *scan, enum wf_signature_use use);
static int scan_argument(struct signature_scan *scan);
static int scan_dot(struct signature_scan *scan);
static int scan_type(struct signature_scan *scan, unsigned depth, struct type_layout *out);
static int scan_struct(struct signature_scan *scan, unsigned depth, struct type_layout *out);
static ffi_type *type_of_letter(char letter);
static int complain(const struct signature_scan *scan, int error, const char *about);
static int build_signature(struct wf_signature *signature, const struct signature_scan *scan);
static ffi_type *build_type(struct type_builder *builder);
static size_t count_members(const char *inside);

int wf_signature_new(struct wf_signature **out, const char *text, enum wf_signature_use use) {
    struct signature_scan scan = {.text = text, .at = text};
    int error = scan_signature(&scan, use);
    if (error)
        return error;
    size_t pointers = scan.arguments + scan.members + scan.structs; /* each list of members ends with a null */
    size_t bytes = sizeof(struct wf_signature) + scan.structs * sizeof(ffi_type) + pointers * sizeof(ffi_type *);
    struct wf_signature *signature = wf_os_alloc(bytes);
    if (!signature)
        return wf_ffi_fail_memory();
    error = build_signature(signature, &scan);
    if (error) {
        wf_os_free(signature);
        return error;
    }
    *out = signature;
    return 0;
}

static int scan_signature(struct signature_scan *scan, enum wf_signature_use use) {
    int error = 0;
    while (!error && *scan->at && *scan->at != ')')
        error = *scan->at == '.' ? scan_dot(scan) : scan_argument(scan);
    if (error)
        return error;
    if (scan->is_variadic && use == WF_SIGNATURE_CALLBACK)
        return complain(scan, -EINVAL, "a callback cannot have variable arguments");
    if (*scan->at != ')')
        return complain(scan, -EINVAL, "no ')' and result");
    scan->at++;
    if (!*scan->at)
        return complain(scan, -EINVAL, "no result after ')'; v is for none");
    struct type_layout layout = {.size = 0};
    if (*scan->at == 'v')
        scan->at++;
    else
        error = scan_type(scan, 0, &layout);
    scan->result_size = layout.size;
    if (!error && *scan->at)
        return complain(scan, -EINVAL, "something after the result");
    return error;
}

static int scan_dot(struct signature_scan *scan) {
    if (scan->is_variadic)
        return complain(scan, -EINVAL, "a second '.'");
    if (scan->arguments == 0)
        return complain(scan, -EINVAL, "no argument before '.'");
    scan->is_variadic = true;
    scan->fixed = scan->arguments;
    scan->at++;
    return 0;
}

static int scan_argument(struct signature_scan *scan) {
    struct type_layout layout;
    if (scan->arguments == WF_FFI_ARGUMENTS_MAX)
        return complain(scan, -E2BIG, "over 64 arguments");
    if (scan->is_variadic && strchr(PROMOTED, *scan->at))
        return complain(scan, -EINVAL,
                        *scan->at == 'f' ? "a variable argument is never a float: C passes d"
                                         : "a variable argument is never that short: C passes i");
    scan->arguments++;
    return scan_type(scan, 0, &layout);
}

static int scan_type(struct signature_scan *scan, unsigned depth, struct type_layout *out) {
    if (*scan->at == '{')
        return scan_struct(scan, depth, out);
    ffi_type *type = type_of_letter(*scan->at);
    if (!type)
        return complain(scan, -EINVAL,
                        *scan->at == 'v'   ? "v is for results only"
                        : *scan->at == '}' ? "no '{' before '}'"
                                           : "no letter of a type");
    *out = (struct type_layout){.size = type->size, .alignment = type->alignment};
    scan->at++;
    return 0;
}

static int scan_struct(struct signature_scan *scan, unsigned depth, struct type_layout *out) {
    struct type_layout whole = {.size = 0, .alignment = 1};
    if (depth == WF_FFI_DEPTH_MAX)
        return complain(scan, -E2BIG, "over 16 structs one inside another");
    scan->structs++;
    scan->at++;
    while (*scan->at && *scan->at != '}') {
        struct type_layout member;
        if (++scan->members > WF_FFI_MEMBERS_MAX)
            return complain(scan, -E2BIG, "over 1,024 members of structs");
        int error = scan_type(scan, depth + 1, &member);
        if (error)
            return error;
        whole.size = (whole.size + member.alignment - 1) / member.alignment * member.alignment + member.size;
        whole.alignment = member.alignment > whole.alignment ? member.alignment : whole.alignment;
    }
    if (!*scan->at)
        return complain(scan, -EINVAL, "no '}' at the end of a struct");
    if (whole.size == 0)
        return complain(scan, -EINVAL, "a struct without members");
    scan->at++;
    whole.size = (whole.size + whole.alignment - 1) / whole.alignment * whole.alignment;
    *out = whole;
    return 0;
}

static ffi_type *type_of_letter(char letter) {
    switch (letter) {
    case 'B':
    case 'C':
        return &ffi_type_uint8;
    case 'c':
        return &ffi_type_sint8;
    case 's':
        return &ffi_type_sint16;
    case 'S':
        return &ffi_type_uint16;
    case 'i':
        return &ffi_type_sint;
    case 'I':
        return &ffi_type_uint;
    case 'j':
        return &ffi_type_slong;
    case 'J':
        return &ffi_type_ulong;
    case 'l':
        return &ffi_type_sint64;
    case 'L':
        return &ffi_type_uint64;
    case 'f':
        return &ffi_type_float;
    case 'd':
        return &ffi_type_double;
    case 'p':
    case 'Z':
        return &ffi_type_pointer;
    default:
        return NULL;
    }
}

static int complain(const struct signature_scan *scan, int error, const char *about) {
    int character = (int)(scan->at - scan->text) + 1;
    (void)wf_ffi_fail(error, "signature \"%.80s\", character %d: %s", scan->text, character, about);
    return error;
}

static int build_signature(struct wf_signature *signature, const struct signature_scan *scan) {
    ffi_type *structs = (ffi_type *)(signature + 1);
    ffi_type **arguments = (ffi_type **)(structs + scan->structs);
    struct type_builder builder = {.at = scan->text, .structs = structs, .pointers = arguments + scan->arguments};
    for (uint32_t i = 0; i < scan->arguments; i++) {
        builder.at += *builder.at == '.';
        signature->letters[i] = *builder.at;
        arguments[i] = build_type(&builder);
    }
    builder.at += *builder.at == '.';
    WF_ASSERT(*builder.at == ')');
    builder.at++;
    signature->count = scan->arguments;
    signature->result = *builder.at;
    ffi_type *result = *builder.at == 'v' ? &ffi_type_void : build_type(&builder);
    ffi_status status =
        scan->is_variadic
            ? ffi_prep_cif_var(&signature->cif, FFI_DEFAULT_ABI, scan->fixed, scan->arguments, result, arguments)
            : ffi_prep_cif(&signature->cif, FFI_DEFAULT_ABI, scan->arguments, result, arguments);
    if (status != FFI_OK)
        return wf_ffi_fail(-EINVAL, "signature \"%.80s\": libffi refuses it (status %d)", scan->text, (int)status);
    signature->is_direct = wf_direct_can_call(signature, scan->is_variadic);
    WF_ASSERT(scan->result_size == 0 || scan->result_size == result->size); /* weft_ffi_size_of goes by ours */
    return 0;
}

static ffi_type *build_type(struct type_builder *builder) {
    char letter = *builder->at++;
    if (letter != '{')
        return type_of_letter(letter);
    ffi_type *whole = builder->structs++;
    ffi_type **members = builder->pointers;
    size_t count = count_members(builder->at);
    builder->pointers += count + 1;
    for (size_t i = 0; i < count; i++)
        members[i] = build_type(builder);
    WF_ASSERT(*builder->at == '}');
    builder->at++;
    whole->type = FFI_TYPE_STRUCT;
    whole->elements = members; /* its size and alignment are libffi's to fill in */
    return whole;
}

/* Of the struct whose first member is at inside; those of structs in it count for nothing. */
static size_t count_members(const char *inside) {
    size_t count = 0;
    for (unsigned depth = 0; depth > 0 || *inside != '}'; inside++) {
        count += depth == 0;
        depth += *inside == '{';
        depth -= *inside == '}';
    }
    return count;
}

int weft_ffi_size_of(const char *type) {
    struct type_layout layout;
    if (!type)
        return wf_ffi_fail_null("the type");
    struct signature_scan scan = {.text = type, .at = type};
    int error = scan_type(&scan, 0, &layout);
    if (error)
        return error;
    if (*scan.at)
        return complain(&scan, -EINVAL, "something after the type");
    return (int)layout.size;
}

#endif

typedef int wf_signature_unit_is_not_empty;
