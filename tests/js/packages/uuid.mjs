// SPDX-License-Identifier: MIT
// uuid: identifiers of all versions.
import { v1, v3, v4, v5, v6, v7, validate, version, parse, stringify, NIL, MAX } from 'uuid';

const DNS = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
console.log(v3('hello.example.com', DNS), v5('hello.example.com', DNS), v5('ünïcode', v5.URL));
const options = { msecs: 1321644961388, nsecs: 1, clockseq: 0x385c, node: Uint8Array.of(1, 2, 3, 4, 5, 6) };
console.log(v1(options), v6(options));
console.log(v4({ random: Uint8Array.from({ length: 16 }, (_, i) => i * 16) }));
console.log(v7({ msecs: 1645557742000, seq: 7, random: new Uint8Array(16).fill(9) }));
const some = Array.from({ length: 100 }, () => v4());
console.log(new Set(some).size, some.every((id) => validate(id) && version(id) === 4), version(v7()), version(v1()));
console.log([...parse(DNS)].join(), stringify(parse(DNS)) === DNS, validate('x'), NIL, MAX, version(NIL));
try {
    parse('x');
} catch (error) {
    console.log(error.name, error.message);
}
