// SPDX-License-Identifier: MIT
// chalk: colours on a terminal; its package has "imports" of its own.
import chalk, { Chalk, chalkStderr, supportsColor } from 'chalk';

console.log(chalk.level, JSON.stringify(chalk.red('plain')), supportsColor, chalkStderr.level);
const colours = new Chalk({ level: 3 });
for (const text of [colours.red('a'), colours.bold.underline.blue('b'), colours.bgHex('#336699').rgb(1, 2, 3)('c'),
    colours.green(`x ${colours.yellow('y')} z`), colours.red('two\nlines'), colours.visible('v')])
    console.log(JSON.stringify(text));
console.log(JSON.stringify(new Chalk({ level: 1 }).hex('#ff0000')('x')), JSON.stringify(new Chalk({ level: 2 }).ansi256(200)('x')));
