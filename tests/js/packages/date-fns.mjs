// SPDX-License-Identifier: MIT
// date-fns: arithmetic with dates, formats, languages (the runner sets TZ=UTC).
import { add, addBusinessDays, differenceInCalendarDays, eachDayOfInterval, endOfMonth, format, formatDistance, formatDuration,
    formatISO, getISOWeek, intervalToDuration, isLeapYear, isValid, isWithinInterval, parse, parseISO, startOfWeek, sub } from 'date-fns';
import { de, fr } from 'date-fns/locale';

const day = new Date(Date.UTC(2024, 1, 28, 13, 5, 9, 7));
console.log(format(day, "yyyy-MM-dd'T'HH:mm:ss.SSSxxx"), format(day, 'EEEE, do MMMM yyyy, h:mm a, QQQ, I'));
console.log(format(day, 'PPPPpppp', { locale: de }), '|', format(day, 'PPPP', { locale: fr }));
console.log(formatISO(add(day, { months: 1, days: 2, hours: 3 })), formatISO(sub(day, { years: 4 })), formatISO(endOfMonth(day)));
console.log(differenceInCalendarDays(day, parseISO('2023-12-31')), getISOWeek(day), isLeapYear(day), formatISO(addBusinessDays(day, 3)));
console.log(eachDayOfInterval({ start: day, end: add(day, { days: 2 }) }).map((date) => format(date, 'd.M.')).join(' '));
console.log(formatDistance(day, add(day, { days: 40 }), { addSuffix: true }), '|', formatDistance(day, add(day, { minutes: 3 })));
console.log(formatDuration(intervalToDuration({ start: day, end: add(day, { days: 33, seconds: 5 }) })));
console.log(parse('03.04.2021 17:30', 'dd.MM.yyyy HH:mm', new Date(0)).toISOString(), isValid(parse('x', 'yyyy', day)));
console.log(isWithinInterval(day, { start: new Date(0), end: day }), format(startOfWeek(day, { weekStartsOn: 1 }), 'EEE d'));
try {
    format(day, 'YYYY');
} catch (error) {
    console.log(error.name, error.message.slice(0, 40));
}
