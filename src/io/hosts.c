/* SPDX-License-Identifier: MIT
 *
 * io/hosts.c - names that the machine itself knows: /etc/hosts, and localhost.
 *
 * Nearly every name that is asked for is not in the file. So what is kept of it is a filter: a bit for the hash of each name
 * that it has, with the stamp of the file. While the stamp is the same and the bit is not set, the file need not be read: such
 * a look costs one system call. A name that is there, or happens to share a bit, is looked for in the file itself.
 *
 * A file that was changed within the last second may be changed again under the same stamp, so no filter is made of it yet.
 *
 * Kept is no memory but the filter, which is as long as it is: a list of 100,000 names sets a tenth of its bits.
 */
#include <errno.h>
#include <string.h>

#include "io/dns.h"
#include "os/clock.h"
#include "os/memory.h"
#include "os/text.h"
#include "queue/lock.h"
#include "weft/thread.h"

enum { FILTER_BITS = 1 << 20 };
#define HOSTS_MOST ((size_t)16 << 20)

/* For the process, since the file is the machine's. All under the lock. */
static struct wf_lock hosts_lock;
static struct wf_os_stamp hosts_stamp; /* all zero: there is no filter */
static uint64_t hosts_filter[FILTER_BITS / 64];

/* One look through the file. Belongs to the caller. */
struct hosts_search {
    const struct wf_dns_question *question;
    const struct wf_dns_out *out;
    bool fills_filter;
    int found;
};

static bool filter_rules_out(const struct wf_os_stamp *stamp, uint32_t hash);
static void search_text(struct hosts_search *search, char *text);
static void search_line(struct hosts_search *search, char *line);
static bool search_word(const struct hosts_search *search, const char *word);
static int find_localhost(const struct wf_dns_question *question, const struct wf_dns_out *out);

int wf_hosts_find(const char *path, const struct wf_dns_question *question, const struct wf_dns_out *out) {
    struct hosts_search search = {.question = question, .out = out};
    struct wf_os_stamp stamp;
    char *text = NULL;
    size_t size;
    weft_blocking_begin();
    int error = wf_os_text_stamp(path, &stamp);
    if (!error && !filter_rules_out(&stamp, question->hash))
        error = wf_os_text_read(path, HOSTS_MOST, &text, &size, &stamp);
    if (text) {
        search.fills_filter = stamp.changed_ns < wf_os_wall_now() - WEFT_SECOND;
        wf_lock_take(&hosts_lock);
        if (search.fills_filter) {
            memset(hosts_filter, 0, sizeof hosts_filter);
            hosts_stamp = stamp;
        }
        search_text(&search, text);
        wf_lock_drop(&hosts_lock);
        wf_os_free(text);
    }
    weft_blocking_end();
    if (error == -ENOMEM || error == -EMFILE)
        return error;
    if (error == -ENFILE)
        return -EMFILE;
    return search.found > 0 ? search.found : find_localhost(question, out);
}

static bool filter_rules_out(const struct wf_os_stamp *stamp, uint32_t hash) {
    uint32_t bit = hash % FILTER_BITS;
    wf_lock_take(&hosts_lock);
    bool is_out = wf_os_stamp_equal(stamp, &hosts_stamp) && !(hosts_filter[bit / 64] >> bit % 64 & 1);
    wf_lock_drop(&hosts_lock);
    return is_out;
}

static void search_text(struct hosts_search *search, char *text) {
    for (char *rest = NULL, *line = strtok_r(text, "\r\n", &rest); line; line = strtok_r(NULL, "\r\n", &rest)) {
        line[strcspn(line, "#")] = 0;
        search_line(search, line);
    }
}

/* An address, and names for it. */
static void search_line(struct hosts_search *search, char *line) {
    char *rest = NULL;
    const char *number = strtok_r(line, " \t", &rest);
    bool is_meant = false;
    for (const char *word; number && (word = strtok_r(NULL, " \t", &rest));)
        is_meant |= search_word(search, word);
    weft_address address;
    int family = search->question->family;
    if (is_meant && search->found < search->out->room && !weft_address_of(&address, number, search->out->port) &&
        (!family || family == address.storage.ss_family))
        search->out->addresses[search->found++] = address;
}

/* True: it is the name that is looked for. */
static bool search_word(const struct hosts_search *search, const char *word) {
    const struct wf_dns_question *question = search->question;
    struct wf_dns_question named;
    if (wf_dns_question_init(&named, word, 0, NULL))
        return false;
    uint32_t bit = named.hash % FILTER_BITS;
    if (search->fills_filter)
        hosts_filter[bit / 64] |= UINT64_C(1) << bit % 64;
    return named.hash == question->hash && named.length == question->length &&
           !memcmp(named.name, question->name, named.length);
}

/* As RFC 6761 wants it, also of machines whose file does not say so. */
static int find_localhost(const struct wf_dns_question *question, const struct wf_dns_out *out) {
    static const struct wf_dns_address four = {{127, 0, 0, 1}, false};
    static const struct wf_dns_address six = {{[15] = 1}, true};
    static const char localhost[] = "localhost";
    enum { LENGTH = sizeof localhost - 1 };
    struct wf_dns_address addresses[2];
    uint32_t count = 0;
    const char *name = question->name;
    if (question->length < LENGTH || memcmp(name + question->length - LENGTH, localhost, LENGTH) != 0 ||
        (question->length > LENGTH && name[question->length - LENGTH - 1] != '.'))
        return 0;
    if (question->family != AF_INET6)
        addresses[count++] = four;
    if (question->family != AF_INET)
        addresses[count++] = six;
    return wf_dns_write(out, addresses, count);
}

void wf_hosts_after_fork(void) {
    wf_lock_init(&hosts_lock);
    hosts_stamp = (struct wf_os_stamp){0};
}
