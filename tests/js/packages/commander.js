// SPDX-License-Identifier: MIT
// commander: command lines.
'use strict';
const { Command, Option, InvalidArgumentError, CommanderError } = require('commander');

function program() {
    const made = new Command('tool').version('1.2.3').description('does things').exitOverride();
    made.configureOutput({ writeOut: (text) => console.log(`out: ${text.trim()}`), writeErr: (text) => console.log(`err: ${text.trim()}`) });
    made.option('-v, --verbose', 'say more', (value, before) => before + 1, 0);
    made.addOption(new Option('-c, --colour <when>', 'colours').choices(['always', 'never']).default('never').env('TOOL_COLOUR'));
    made.command('add <first> [more...]').alias('a').description('adds').option('-n, --number <n>', 'a number', (text) => {
        if (Number.isNaN(Number(text)))
            throw new InvalidArgumentError('Not a number.');
        return Number(text);
    }).action((first, more, options) => console.log('add', first, JSON.stringify(more), JSON.stringify(options)));
    made.command('wait').action(async () => {
        await null;
        console.log('waited');
    });
    return made;
}

async function run(...words) {
    const tool = program();
    try {
        await tool.parseAsync(words, { from: 'user' });
        console.log('options', JSON.stringify(tool.opts()));
    } catch (error) {
        console.log(error instanceof CommanderError, error.code, error.exitCode);
    }
}

(async () => {
    await run('-vv', '--colour=always', 'add', 'x', 'y', 'z', '-n', '5');
    await run('wait');
    await run('--help');
    await run('--version');
    await run('add');
    await run('a', 'x', '--number', 'many');
    await run('--colour', 'sometimes', 'wait');
    await run('ad', 'x');
    await run('--unknown');
    console.log(program().commands[0].helpInformation());
})();
