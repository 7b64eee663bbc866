/* SPDX-License-Identifier: MIT
 *
 * http/date.c - moments as HTTP writes them: "Sun, 06 Nov 1994 08:49:37 GMT".
 *
 * The Date header is kept with the work, and made anew when the second has changed: a few conversions a second for each
 * connection that is busy, and nothing that connections share. Of the three forms that HTTP once had only this one is read.
 */
#include <stdio.h>
#include <string.h>

#include "http/http.h"
#include "os/clock.h"

static const char day_names[] = "SunMonTueWedThuFriSat";
static const char month_names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

static void civil(int64_t day, int *year, int *month, int *day_of_month);

const char *wf_http_date(struct wf_http_work *work) {
    int64_t second = wf_os_wall_second();
    if (work->date_second != second) {
        work->date_second = second;
        wf_http_date_format(second, work->date);
    }
    return work->date;
}

void wf_http_date_format(int64_t second, char out[WF_HTTP_DATE + 1]) {
    int year, month, day;
    int64_t days = second / 86400;
    int rest = (int)(second % 86400);
    civil(days, &year, &month, &day);
    char text[48];
    snprintf(text, sizeof text, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT", day_names + (days + 4) % 7 * 3, day,
             month_names + month * 3, year, rest / 3600, rest / 60 % 60, rest % 60);
    memcpy(out, text, WF_HTTP_DATE);
    out[WF_HTTP_DATE] = 0;
}

/* Days since 1970 to a date, by counting in 400 years of 146,097 days from the first of March 0000. */
static void civil(int64_t day, int *year, int *month, int *day_of_month) {
    int64_t shifted = day + 719468;
    int64_t era = shifted / 146097;
    int64_t of_era = shifted % 146097;
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t march_month = (5 * of_year + 2) / 153;
    *day_of_month = (int)(of_year - (153 * march_month + 2) / 5 + 1);
    *month = (int)(march_month < 10 ? march_month + 2 : march_month - 10);
    *year = (int)(year_of_era + era * 400 + (*month <= 1));
}

/* Which of those names of three letters it is, or -1. */
static int name_at(const char *names, const char *text) {
    for (int i = 0; names[i]; i += 3)
        if (memcmp(names + i, text, 3) == 0)
            return i / 3;
    return -1;
}

static int64_t days_of(int year, int month, int day) {
    int64_t march_year = month <= 1 ? year - 1 : year;
    int64_t era = march_year / 400;
    int64_t year_of_era = march_year % 400;
    int64_t of_year = (153 * (month > 1 ? month - 2 : month + 10) + 2) / 5 + day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year - 719468;
}

/* Two digits, or -1. */
static int two_digits(const char *at) {
    return at[0] >= '0' && at[0] <= '9' && at[1] >= '0' && at[1] <= '9' ? (at[0] - '0') * 10 + at[1] - '0' : -1;
}

/* Every byte has its place. Whether the name of the day is right does not matter, as long as it is one. */
int64_t wf_http_date_parse(const char *text) {
    static const char form[] = "???, ?? ??? ???? ??:??:?? GMT";
    if (!text || strlen(text) != WF_HTTP_DATE)
        return -1;
    for (size_t i = 0; i < WF_HTTP_DATE; i++)
        if (form[i] != '?' && form[i] != text[i])
            return -1;
    int day = two_digits(text + 5), century = two_digits(text + 12), year = two_digits(text + 14);
    int hour = two_digits(text + 17), minute = two_digits(text + 20), second = two_digits(text + 23);
    int month = name_at(month_names, text + 8);
    if (name_at(day_names, text) < 0 || month < 0 || day < 1 || day > 31 || century < 19 || year < 0)
        return -1;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
        return -1;
    int64_t days = days_of(century * 100 + year, month, day);
    int same_year, same_month, same_day;
    civil(days, &same_year, &same_month, &same_day);
    if (days < 0 || same_day != day) /* the 31st of a month that has 30 */
        return -1;
    return days * 86400 + hour * 3600 + minute * 60 + second;
}
