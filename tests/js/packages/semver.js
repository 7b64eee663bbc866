// SPDX-License-Identifier: MIT
// semver: versions and ranges.
'use strict';
const semver = require('semver');

console.log(semver.valid('v1.2.3'), semver.valid('a.b.c'), semver.clean('  =v1.2.3-beta.1+build '), semver.coerce('v2 beta').version);
console.log(['1.10.0', '1.2.0', '1.2.0-rc.1', '1.2.0-beta', '0.9.9'].sort(semver.compare).join(' '));
for (const [version, range] of [['1.2.3', '^1.2.0'], ['1.3.0', '~1.2.0'], ['2.0.0', '1.x || >=2.5.0 || 5.0.0 - 7.2.3'],
    ['1.2.3-alpha', '>=1.2.0'], ['6.1.0', '5.0.0 - 7.2.3']])
    console.log(version, range, semver.satisfies(version, range));
console.log(semver.inc('1.2.3', 'prerelease', 'beta'), semver.inc('1.2.3', 'major'), semver.diff('1.2.3', '1.3.0'));
console.log(semver.maxSatisfying(['1.2.3', '1.9.0', '2.0.0'], '^1'), semver.minVersion('>1.0.0').version);
console.log(new semver.Range('^1.2.3 <1.8').range, semver.intersects('^1.2', '>=1.9'), semver.subset('~1.2.3', '^1.0.0'));
console.log(semver.major('4.5.6'), semver.prerelease('1.0.0-a.1'), semver.gtr('3.0.0', '^2'), semver.outside('0.1.0', '^1', '<'));
try {
    new semver.SemVer('one');
} catch (error) {
    console.log(error.name, error.message);
}
