/* SPDX-License-Identifier: MIT
 *
 * http/route.c - which handler for which request.
 *
 * A tree of segments. Under each node: children with a text, one that takes any segment as a parameter, one that takes all
 * segments that are left, in that order of preference; and going back when a choice leads nowhere. The depth of going back is
 * bounded by the depth of the patterns.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "http/http.h"
#include "os/memory.h"

enum { METHOD_SIZE = 24 };

struct route_method {
    struct route_method *next;
    char name[METHOD_SIZE]; /* "": any */
    weft_http_handler handler;
    void *arg;
};

struct wf_http_route {
    struct wf_http_route *next;  /* the next child of the same parent */
    struct wf_http_route *first; /* children with a text */
    struct wf_http_route *any;   /* ":name" */
    struct wf_http_route *rest;  /* "+" */
    struct route_method *methods;
    uint32_t name_size;
    char name[]; /* the segment, or the name of the parameter */
};

/* A request on its way through the tree. */
struct matching {
    weft_http *http;
    const char *method;
    const struct wf_http_route *other; /* fits the path, but not the method */
};

static bool path_is_sound(const char *path);
static struct wf_http_route *child_for(struct wf_http_route *parent, const char *segment, size_t size, int *error);
static struct wf_http_route *route_new(const char *name, size_t size);
static const struct route_method *route_match(const struct wf_http_route *node, const char *path,
                                              struct matching *matching);
static const struct route_method *method_of(const struct wf_http_route *route, struct matching *matching);
static const struct route_method *method_find(const struct wf_http_route *route, const char *name);
static void list_methods(const struct wf_http_route *route, char *allowed, size_t size);

int wf_http_routes_new(struct wf_http_route **out) {
    *out = route_new("", 0);
    return *out ? 0 : -ENOMEM;
}

void wf_http_routes_free(struct wf_http_route *routes) {
    while (routes) {
        struct wf_http_route *next = routes->next;
        wf_http_routes_free(routes->first); // NOLINT(misc-no-recursion): as deep as the longest pattern
        wf_http_routes_free(routes->any);
        wf_http_routes_free(routes->rest);
        while (routes->methods) {
            struct route_method *method = routes->methods;
            routes->methods = method->next;
            wf_os_free(method);
        }
        wf_os_free(routes);
        routes = next;
    }
}

static struct wf_http_route *route_new(const char *name, size_t size) {
    struct wf_http_route *route = wf_os_alloc(sizeof *route + size + 1);
    if (!route)
        return NULL;
    memcpy(route->name, name, size);
    route->name_size = (uint32_t)size;
    return route;
}

int wf_http_routes_add(struct wf_http_route *routes, const char *pattern, weft_http_handler handler, void *arg) {
    if (*pattern == ' ')
        return -EINVAL;
    size_t method_size = *pattern == '/' ? 0 : strcspn(pattern, " ");
    const char *path = pattern + method_size + (pattern[method_size] == ' ');
    if (method_size >= METHOD_SIZE || *path != '/' || (method_size > 0 && path == pattern + method_size) ||
        strlen(pattern) >= WF_HTTP_TEXT || strspn(pattern, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") < method_size)
        return -EINVAL;
    if (!path_is_sound(path)) /* before anything is made of it */
        return -EINVAL;
    struct wf_http_route *node = routes;
    while (*path) {
        size_t size = strcspn(path + 1, "/");
        int error = 0;
        node = child_for(node, path + 1, size, &error);
        if (!node)
            return error;
        path += size + 1;
    }
    for (const struct route_method *method = node->methods; method; method = method->next)
        if (strlen(method->name) == method_size && memcmp(method->name, pattern, method_size) == 0)
            return -EEXIST;
    struct route_method *method = wf_os_alloc(sizeof *method);
    if (!method)
        return -ENOMEM;
    memcpy(method->name, pattern, method_size);
    method->handler = handler;
    method->arg = arg;
    method->next = node->methods;
    node->methods = method;
    return 0;
}

/* Parameters have names, there are not too many, and "+" is the last segment. */
static bool path_is_sound(const char *path) {
    uint32_t parameters = 0;
    while (*path) {
        size_t size = strcspn(path + 1, "/");
        bool is_rest = size == 1 && path[1] == '+';
        parameters += path[1] == ':' || is_rest;
        if ((size == 1 && path[1] == ':') || (is_rest && path[2]))
            return false;
        path += size + 1;
    }
    return parameters <= WF_HTTP_PARAMETERS;
}

/* The child, made if it is not there. -EINVAL for a parameter with two names in one place: then all before it was there. */
static struct wf_http_route *child_for(struct wf_http_route *parent, const char *segment, size_t size, int *error) {
    struct wf_http_route **at = &parent->first;
    bool is_any = size > 0 && *segment == ':';
    bool is_rest = size == 1 && *segment == '+';
    if (is_any) {
        segment++;
        size--;
    }
    if (is_any || is_rest)
        at = is_any ? &parent->any : &parent->rest;
    for (; *at; at = &(*at)->next)
        if ((*at)->name_size == size && memcmp((*at)->name, segment, size) == 0)
            return *at;
        else if (is_any) {
            *error = -EINVAL;
            return NULL;
        }
    *at = route_new(segment, size);
    *error = *at ? 0 : -ENOMEM;
    return *at;
}

int wf_http_routes_find(const struct wf_http_route *routes, weft_http *http, struct wf_http_found *found, char *allowed,
                        size_t size) {
    const char *name = http->work->parser.method;
    if (*http->path != '/') /* "*" */
        return 404;
    http->parameter_count = 0;
    struct matching matching = {.http = http, .method = name};
    const struct route_method *method = route_match(routes, http->path, &matching);
    if (!method && matching.other)
        list_methods(matching.other, allowed, size);
    if (!method)
        return matching.other ? 405 : 404;
    for (uint32_t i = 0; i < http->parameter_count; i++) { /* each ends where its segment does */
        struct wf_http_parameter *parameter = &http->parameters[i];
        size_t length = strcspn(parameter->value, "/");
        if (!parameter->value[length] || *parameter->name == '+') /* it ends with the path */
            continue;
        char *copy = wf_http_text_take(http, length + 1);
        if (!copy)
            return 414;
        memcpy(copy, parameter->value, length);
        copy[length] = 0;
        parameter->value = copy;
    }
    *found = (struct wf_http_found){method->handler, method->arg};
    return 0;
}

/* Up to the next slash, or the end. Mostly a few bytes, for which strcspn is slow. */
static size_t segment_size(const char *segment) {
    size_t size = 0;
    while (segment[size] && segment[size] != '/')
        size++;
    return size;
}

/* path is what is left of it, from a slash on, or nothing. */
static const struct route_method *route_match(const struct wf_http_route *node, const char *path,
                                              struct matching *matching) {
    weft_http *http = matching->http;
    if (!*path)
        return method_of(node, matching);
    const char *segment = path + 1;
    size_t size = segment_size(segment);
    for (const struct wf_http_route *child = node->first; child; child = child->next) {
        if (child->name_size != size || (size > 0 && memcmp(child->name, segment, size) != 0))
            continue;
        const struct route_method *found = route_match(child, segment + size, matching); // NOLINT(misc-no-recursion)
        if (found)
            return found;
        break;
    }
    uint32_t count = http->parameter_count;
    if (node->any && size > 0) {
        http->parameters[http->parameter_count++] =
            (struct wf_http_parameter){node->any->name, node->any->name_size, segment};
        const struct route_method *found = route_match(node->any, segment + size, matching);
        if (found)
            return found;
        http->parameter_count = count;
    }
    if (!node->rest || !*segment)
        return NULL;
    http->parameters[http->parameter_count++] = (struct wf_http_parameter){node->rest->name, 1, segment};
    const struct route_method *found = method_of(node->rest, matching);
    if (!found)
        http->parameter_count = count;
    return found;
}

/* Of a route that fits the path: what fits the method. */
static const struct route_method *method_of(const struct wf_http_route *route, struct matching *matching) {
    const struct route_method *method = method_find(route, matching->method);
    if (!method && strcmp(matching->method, "HEAD") == 0)
        method = method_find(route, "GET");
    if (!method)
        method = method_find(route, "");
    if (!method && route->methods && !matching->other)
        matching->other = route;
    return method;
}

static const struct route_method *method_find(const struct wf_http_route *route, const char *name) {
    const struct route_method *method = route->methods;
    while (method && (*method->name != *name || strcmp(method->name, name) != 0))
        method = method->next;
    return method;
}

static void list_methods(const struct wf_http_route *route, char *allowed, size_t size) {
    size_t used = 0;
    *allowed = 0;
    for (const struct route_method *method = route->methods; method; method = method->next) {
        bool is_get = strcmp(method->name, "GET") == 0 && !method_find(route, "HEAD");
        int wanted =
            snprintf(allowed + used, size - used, "%s%s%s", used ? ", " : "", method->name, is_get ? ", HEAD" : "");
        if (wanted < 0 || (size_t)wanted >= size - used) {
            allowed[used] = 0;
            return;
        }
        used += (size_t)wanted;
    }
}
