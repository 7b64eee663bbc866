// SPDX-License-Identifier: MIT
// dayjs: dates in UTC, plug-ins, durations.
'use strict';
const dayjs = require('dayjs');
dayjs.extend(require('dayjs/plugin/utc'));
dayjs.extend(require('dayjs/plugin/duration'));
dayjs.extend(require('dayjs/plugin/relativeTime'));
dayjs.extend(require('dayjs/plugin/customParseFormat'));
dayjs.extend(require('dayjs/plugin/isoWeek'));
const german = require('dayjs/locale/de');

const day = dayjs.utc('2024-02-28T23:30:00Z');
console.log(day.format('YYYY-MM-DD HH:mm:ss dddd Z'), day.add(1, 'day').format(), day.add(1, 'year').date());
console.log(day.startOf('month').toISOString(), day.endOf('week').toISOString(), day.isoWeek(), day.daysInMonth());
console.log(day.diff(dayjs.utc('2000-01-01'), 'day'), day.isBefore('2025-01-01'), day.unix());
console.log(dayjs.duration({ hours: 49, minutes: 5 }).humanize(), dayjs.duration('P1Y2M3DT4H').toISOString());
console.log(day.from(dayjs.utc('2024-03-05')), '|', day.to(dayjs.utc('2024-02-28T20:00:00Z')));
console.log(dayjs.utc('31.12.1999 08:15', 'DD.MM.YYYY HH:mm').toISOString(), dayjs('x').isValid());
console.log(day.locale(german).format('dddd, D. MMMM YYYY'), day.format('[Q]: A h, ddd, SSS'));
console.log(JSON.stringify({ day }), day.toDate() instanceof Date, +day);
