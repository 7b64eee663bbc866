/* SPDX-License-Identifier: MIT
 *
 * io/address.c - addresses as text, as numbers, and as the kernel has them.
 *
 * Text is numbers only: names are weft/dns.h's. What cannot be told apart is not guessed: an IPv6 address with a port needs its
 * brackets, and a port its digits.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "io/socket.h"

static const char path_prefix[] = "unix:";

enum { PORT_MOST = 65535, PATH_ROOM = sizeof((struct sockaddr_un *)0)->sun_path };

static int parse_path(weft_address *out, const char *text);
static int parse_port(const char *text, unsigned *port);
static int parse_interface(const char *text, uint32_t *number);
static int format_v6(const struct sockaddr_in6 *v6, char *text, size_t size);
static int format_path(const weft_address *address, char *text, size_t size);
static weft_address canonical(const weft_address *address);
static bool path_is_good(const char *path, size_t size);

static struct sockaddr_in *as_v4(const weft_address *address) {
    return (struct sockaddr_in *)&address->storage;
}

static struct sockaddr_in6 *as_v6(const weft_address *address) {
    return (struct sockaddr_in6 *)&address->storage;
}

static struct sockaddr_un *as_path(const weft_address *address) {
    return (struct sockaddr_un *)&address->storage;
}

/* How many bytes of the path are said to be there. */
static size_t path_size(const weft_address *address) {
    size_t before = offsetof(struct sockaddr_un, sun_path);
    return address->size > before ? address->size - before : 0;
}

/* ---- From text ---- */

int weft_address_parse(weft_address *out, const char *text) {
    char host[INET6_ADDRSTRLEN + WF_OS_INTERFACE_NAME + 1];
    unsigned port;
    if (!out || !text)
        return -EINVAL;
    if (strncmp(text, path_prefix, sizeof path_prefix - 1) == 0)
        return parse_path(out, text + sizeof path_prefix - 1);
    const char *colon = strrchr(text, ':');
    if (!colon || parse_port(colon + 1, &port) != 0)
        return -EINVAL;
    bool has_brackets = text[0] == '[';
    const char *begin = has_brackets ? text + 1 : text, *end = has_brackets ? colon - 1 : colon;
    if (end < begin || (has_brackets && *end != ']') || (size_t)(end - begin) >= sizeof host)
        return -EINVAL;
    size_t length = (size_t)(end - begin);
    memcpy(host, begin, length);
    host[length] = 0;
    if (!has_brackets && (length == 0 || strcmp(host, "*") == 0)) {
        wf_address_any(out, port);
        return 0;
    }
    if (has_brackets != (strchr(host, ':') != NULL))
        return -EINVAL;
    return weft_address_of(out, host, port);
}

int weft_address_of(weft_address *out, const char *ip, unsigned port) {
    weft_address made = {.size = 0};
    char number[INET6_ADDRSTRLEN];
    if (!out || !ip || port > PORT_MOST)
        return -EINVAL;
    if (inet_pton(AF_INET, ip, &as_v4(&made)->sin_addr) == 1) {
        made.storage.ss_family = AF_INET;
        as_v4(&made)->sin_port = htons((uint16_t)port);
        made.size = sizeof(struct sockaddr_in);
        *out = made;
        return 0;
    }
    size_t length = strcspn(ip, "%");
    if (length >= sizeof number)
        return -EINVAL;
    memcpy(number, ip, length);
    number[length] = 0;
    made = (weft_address){.size = sizeof(struct sockaddr_in6)};
    if (inet_pton(AF_INET6, number, &as_v6(&made)->sin6_addr) != 1 ||
        parse_interface(ip + length, &as_v6(&made)->sin6_scope_id) != 0)
        return -EINVAL;
    made.storage.ss_family = AF_INET6;
    as_v6(&made)->sin6_port = htons((uint16_t)port);
    *out = made;
    return 0;
}

static int parse_path(weft_address *out, const char *text) {
    weft_address made = {.storage = {.ss_family = AF_UNIX}};
    bool is_abstract = text[0] == '@';
    size_t length = strlen(text);
    if (length >= PATH_ROOM || length <= is_abstract)
        return -EINVAL;
    memcpy(as_path(&made)->sun_path, text, length);
    if (is_abstract)
        as_path(&made)->sun_path[0] = 0;
    /* An abstract name has no zero at its end: it would be part of it. */
    made.size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + !is_abstract);
    *out = made;
    return 0;
}

static int parse_port(const char *text, unsigned *port) {
    unsigned value = 0;
    if (!*text)
        return -EINVAL;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return -EINVAL;
        value = value * 10 + (unsigned)(*text - '0');
        if (value > PORT_MOST)
            return -EINVAL;
    }
    *port = value;
    return 0;
}

/* Nothing, or "%eth0", or "%2". */
static int parse_interface(const char *text, uint32_t *number) {
    uint64_t value = 0;
    *number = 0;
    if (!*text)
        return 0;
    *number = wf_os_interface_number(++text);
    if (*number)
        return 0;
    for (const char *at = text; *at; at++) {
        if (*at < '0' || *at > '9')
            return -EINVAL;
        value = value * 10 + (uint64_t)(*at - '0');
        if (value > UINT32_MAX)
            return -EINVAL;
    }
    *number = (uint32_t)value;
    return *text ? 0 : -EINVAL;
}

void wf_address_any(weft_address *out, unsigned port) {
    *out = (weft_address){.storage = {.ss_family = AF_INET6}, .size = sizeof(struct sockaddr_in6)};
    as_v6(out)->sin6_port = htons((uint16_t)port);
}

void wf_address_any_v4(weft_address *out, unsigned port) {
    *out = (weft_address){.storage = {.ss_family = AF_INET}, .size = sizeof(struct sockaddr_in)};
    as_v4(out)->sin_port = htons((uint16_t)port);
}

/* ---- To text ---- */

int weft_address_format(const weft_address *address, char *text, size_t size) {
    char whole[WEFT_ADDRESS_TEXT], number[INET_ADDRSTRLEN];
    int length;
    if (!address || !text)
        return -EINVAL;
    if (!wf_address_is_good(address) && !(address->storage.ss_family == AF_UNIX && path_size(address) == 0))
        return -EAFNOSUPPORT;
    switch (address->storage.ss_family) {
    case AF_INET:
        inet_ntop(AF_INET, &as_v4(address)->sin_addr, number, sizeof number);
        length = snprintf(whole, sizeof whole, "%s:%u", number, weft_address_port(address));
        break;
    case AF_INET6:
        length = format_v6(as_v6(address), whole, sizeof whole);
        break;
    default:
        length = format_path(address, whole, sizeof whole);
        break;
    }
    if ((size_t)length >= size)
        return -ENOSPC;
    memcpy(text, whole, (size_t)length + 1);
    return length;
}

static int format_v6(const struct sockaddr_in6 *v6, char *text, size_t size) {
    char number[INET6_ADDRSTRLEN], name[WF_OS_INTERFACE_NAME];
    unsigned port = ntohs(v6->sin6_port);
    inet_ntop(AF_INET6, &v6->sin6_addr, number, sizeof number);
    if (v6->sin6_scope_id == 0)
        return snprintf(text, size, "[%s]:%u", number, port);
    if (wf_os_interface_name(v6->sin6_scope_id, name))
        return snprintf(text, size, "[%s%%%s]:%u", number, name, port);
    return snprintf(text, size, "[%s%%%u]:%u", number, v6->sin6_scope_id, port);
}

/* Zeros inside an abstract name look like the one before it. A socket without a name has nothing after the prefix. */
static int format_path(const weft_address *address, char *text, size_t size) {
    const char *path = as_path(address)->sun_path;
    size_t length = wf_address_is_path(address) ? strnlen(path, path_size(address)) : path_size(address);
    int before = snprintf(text, size, "%s", path_prefix);
    for (size_t i = 0; i < length; i++)
        text[(size_t)before + i] = path[i] ? path[i] : '@';
    text[(size_t)before + length] = 0;
    return before + (int)length;
}

/* ---- What they are ---- */

unsigned weft_address_port(const weft_address *address) {
    if (!address || !wf_address_is_good(address))
        return 0;
    switch (address->storage.ss_family) {
    case AF_INET:
        return ntohs(as_v4(address)->sin_port);
    case AF_INET6:
        return ntohs(as_v6(address)->sin6_port);
    default:
        return 0;
    }
}

bool weft_address_equal(const weft_address *left, const weft_address *right) {
    if (!left || !right || !wf_address_is_good(left) || !wf_address_is_good(right))
        return false;
    weft_address one = canonical(left), other = canonical(right);
    return one.size == other.size && memcmp(&one.storage, &other.storage, one.size) == 0;
}

/* With nothing in it but what makes it the address that it is. */
static weft_address canonical(const weft_address *address) {
    weft_address made = *address, plain = {.storage = {.ss_family = address->storage.ss_family}};
    wf_address_from_kernel(&made);
    switch (made.storage.ss_family) {
    case AF_INET:
        wf_address_any_v4(&plain, weft_address_port(&made));
        as_v4(&plain)->sin_addr = as_v4(&made)->sin_addr;
        break;
    case AF_INET6:
        wf_address_any(&plain, weft_address_port(&made));
        as_v6(&plain)->sin6_addr = as_v6(&made)->sin6_addr;
        as_v6(&plain)->sin6_scope_id = as_v6(&made)->sin6_scope_id;
        break;
    default:
        if (!wf_address_is_path(&made))
            return made;
        memcpy(as_path(&plain)->sun_path, as_path(&made)->sun_path, strlen(as_path(&made)->sun_path) + 1);
        plain.size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(as_path(&plain)->sun_path) + 1);
        break;
    }
    return plain;
}

bool wf_address_is_good(const weft_address *address) {
    if (!address || address->size > sizeof address->storage || address->size < sizeof address->storage.ss_family)
        return false;
    switch (address->storage.ss_family) {
    case AF_INET:
        return address->size >= sizeof(struct sockaddr_in);
    case AF_INET6:
        return address->size >= sizeof(struct sockaddr_in6);
    case AF_UNIX:
        return path_is_good(as_path(address)->sun_path, path_size(address));
    default:
        return false;
    }
}

/* The kernel ends a path where the size says; here it has to end there by itself. */
static bool path_is_good(const char *path, size_t size) {
    if (size == 0 || size > PATH_ROOM)
        return false;
    size_t length = strnlen(path, PATH_ROOM);
    return length == 0 || (length < PATH_ROOM && length <= size);
}

bool wf_address_is_path(const weft_address *address) {
    return address->storage.ss_family == AF_UNIX && path_size(address) > 0 && as_path(address)->sun_path[0];
}

void wf_address_from_kernel(weft_address *address) {
    if (address->size < sizeof(struct sockaddr_in6) || address->storage.ss_family != AF_INET6 ||
        !IN6_IS_ADDR_V4MAPPED(&as_v6(address)->sin6_addr))
        return;
    weft_address v4;
    wf_address_any_v4(&v4, ntohs(as_v6(address)->sin6_port));
    memcpy(&as_v4(&v4)->sin_addr, &as_v6(address)->sin6_addr.s6_addr[12], sizeof(struct in_addr));
    *address = v4;
}
