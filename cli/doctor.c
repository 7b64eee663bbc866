/* SPDX-License-Identifier: MIT
 *
 * cli/doctor.c - "weft doctor": runs every check and reports, for people or as JSON.
 *
 * The exit status is 1 only when an essential check found something missing; everything else weft can live with. The
 * JSON form is one object:
 *
 *     {"weft": "0.1.0", "checks": [
 *         {"topic": "kernel", "name": "futex", "status": "ok", "essential": true, "value": "...", "advice": "..."}],
 *      "usable": true}
 */
#include "doctor.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "file.h"
#include "say.h"

const char cli_doctor_usage[] =
    "usage: weft doctor [OPTION...]\n"
    "\n"
    "Tells what this kernel and machine offer and what weft makes of it, one line a fact:\n"
    "ok, warn (works, but with a drawback) or missing (weft does without it).\n"
    "The exit status is 1 when weft cannot run here, else 0.\n"
    "\n"
    "  --json           the same as JSON\n"
    "  --sysroot DIR    read the files of /proc and /sys below DIR, as for a copied system\n"
    "  --help           this text\n";

static const struct cli_check *const doctor_tables[] = {cli_kernel_checks, cli_machine_checks, cli_limit_checks,
                                                        cli_debug_checks,  cli_weft_checks,    NULL};
static const char *const doctor_words[] = {[CLI_OK] = "ok", [CLI_WARN] = "warn", [CLI_MISSING] = "missing"};

/* Prints the findings one by one as they come and counts them. */
struct doctor_report {
    bool is_json;
    int counts[3]; /* by status */
    bool is_usable;
    const char *topic; /* of the last line */
};

static int doctor_parse(int argc, char **argv, struct cli_patient *patient, struct doctor_report *report);
static void report_add(struct doctor_report *report, const struct cli_check *check, const struct cli_finding *finding);
static void report_end(const struct doctor_report *report);
static void print_json_string(const char *string);

int cli_doctor(int argc, char **argv) {
    struct cli_patient patient = {""};
    struct doctor_report report = {.is_usable = true};
    int status = doctor_parse(argc, argv, &patient, &report);
    if (status >= 0)
        return status;

    if (report.is_json)
        printf("{\"weft\": \"%s\", \"checks\": [", weft_version());
    for (const struct cli_check *const *table = doctor_tables; *table; table++) {
        for (const struct cli_check *check = *table; check->name; check++) {
            struct cli_finding finding = {0};
            check->run(&patient, &finding);
            report_add(&report, check, &finding);
        }
    }
    report_end(&report);
    return report.is_usable ? CLI_DONE : CLI_FAILED;
}

/* Returns an exit status, or -1 when there is work to do. */
static int doctor_parse(int argc, char **argv, struct cli_patient *patient, struct doctor_report *report) {
    static const struct option options[] = {{"json", no_argument, NULL, 'j'},
                                            {"sysroot", required_argument, NULL, 's'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    for (int c; (c = getopt_long(argc, argv, "+:h", options, NULL)) != -1;) {
        if (c == 'j') {
            report->is_json = true;
        } else if (c == 's') {
            patient->sysroot = optarg;
        } else if (c == 'h') {
            printf("%s", cli_doctor_usage);
            return CLI_DONE;
        } else {
            return cli_bad_option("doctor", c, argv);
        }
    }
    if (optind < argc)
        return cli_misuse("doctor", "doctor: takes no argument, but there is '%s'", argv[optind]);
    if (*patient->sysroot && !cli_directory_exists(patient->sysroot))
        return cli_fail("there is no directory %s", patient->sysroot);
    return -1;
}

static void report_add(struct doctor_report *report, const struct cli_check *check, const struct cli_finding *finding) {
    report->counts[finding->status]++;
    if (check->is_essential && finding->status == CLI_MISSING)
        report->is_usable = false;
    if (report->is_json) {
        printf("%s\n  {\"topic\": \"%s\", \"name\": \"%s\", \"status\": \"%s\", \"essential\": %s, \"value\": ",
               report->topic ? "," : "", check->topic, check->name, doctor_words[finding->status],
               check->is_essential ? "true" : "false");
        print_json_string(finding->value);
        printf(", \"advice\": ");
        print_json_string(finding->advice);
        printf("}");
    } else {
        if (!report->topic || strcmp(report->topic, check->topic) != 0)
            printf("%s%s\n", report->topic ? "\n" : "", check->topic);
        printf("  %-8s %-17s %s\n", doctor_words[finding->status], check->name, finding->value);
        if (*finding->advice)
            printf("  %26s -> %s\n", "", finding->advice);
    }
    report->topic = check->topic;
}

static void report_end(const struct doctor_report *report) {
    if (report->is_json) {
        printf("\n], \"usable\": %s}\n", report->is_usable ? "true" : "false");
        return;
    }
    printf("\n%d ok, %d warn, %d missing: weft %s here.\n", report->counts[CLI_OK], report->counts[CLI_WARN],
           report->counts[CLI_MISSING], report->is_usable ? "runs" : "cannot run");
}

/* Bytes over 127 come from file names and such; each is written as the code point of its value, which is always valid. */
static void print_json_string(const char *string) {
    putchar('"');
    for (const unsigned char *at = (const unsigned char *)string; *at; at++) {
        if (*at == '"' || *at == '\\')
            printf("\\%c", *at);
        else if (*at < 0x20 || *at > 0x7e)
            printf("\\u%04x", *at);
        else
            putchar(*at);
    }
    putchar('"');
}

void cli_found(struct cli_finding *out, enum cli_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    out->status = status;
    vsnprintf(out->value, sizeof out->value, format, arguments);
    va_end(arguments);
}

void cli_advise(struct cli_finding *out, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out->advice, sizeof out->advice, format, arguments);
    va_end(arguments);
}

bool cli_patient_line(const struct cli_patient *patient, const char *path, char *line, size_t size) {
    char *full = cli_format("%s%s", patient->sysroot, path);
    struct cli_text text = {0};
    bool is_read = cli_file_read(full, &text) == 0;
    snprintf(line, size, "%.*s", is_read ? (int)strcspn(text.bytes, "\n") : 0, is_read ? text.bytes : "");
    cli_text_term(&text);
    free(full);
    return is_read;
}

bool cli_patient_number(const struct cli_patient *patient, const char *path, long long *out) {
    char line[64], *end;
    if (!cli_patient_line(patient, path, line, sizeof line))
        return false;
    long long number = strtoll(line, &end, 10);
    if (end == line)
        return false;
    *out = number;
    return true;
}

char *cli_bytes_text(unsigned long long bytes, char buffer[CLI_BYTES_TEXT]) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;
    double amount = (double)bytes;
    while (amount >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        amount /= 1024;
        unit++;
    }
    bool is_whole = amount == (double)(unsigned long long)amount || amount >= 100;
    snprintf(buffer, CLI_BYTES_TEXT, is_whole ? "%.0f %s" : "%.1f %s", amount, units[unit]);
    return buffer;
}
