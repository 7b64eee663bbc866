// SPDX-License-Identifier: MIT
// csv-parse: the synchronous parser.
import { parse, CsvError } from 'csv-parse/sync';

console.log(JSON.stringify(parse('a,b,c\n1,"two, and ""more""",3\n"line\nbreak",,x\n')));
const options = { columns: true, skip_empty_lines: true, trim: true, cast: true, comment: '#' };
console.log(JSON.stringify(parse('\ufeffname ; age\n# no\n\nAda; 36\n Böb ;7\n', { ...options, delimiter: ';', bom: true })));
console.log(JSON.stringify(parse(Buffer.from('x\ty\r\n1\t2\r\n'), { delimiter: '\t', columns: ['a', 'b'], from: 2 })));
console.log(JSON.stringify(parse('1|2\n3|4', { delimiter: '|', cast: (value, context) => `${context.lines}:${value}` })));
console.log(JSON.stringify(parse('k,v\na,1\nb,2', { columns: true, objname: 'k' })));
console.log(JSON.stringify(parse('a,b\n1,2', { info: true, columns: true })[0].info.records));
try {
    parse('a,b\n1,2,3');
} catch (error) {
    console.log(error instanceof CsvError, error.code, error.message);
}
try {
    parse('a,"b');
} catch (error) {
    console.log(error.code);
}
