// process.stdin, stdout and stderr as pipes, files and what is full: each script is run by a child.
'use strict';
const { spawnSync } = require('node:child_process');
const command = [process.execPath, ...(process.versions.weft ? ['run'] : [])];

function run(name, script, shell = '"$@"', input = undefined) {
    const text = `(${script})(); function note(...all) { require('fs').writeSync(2, all.join(' ') + '\\n'); }`;
    const { stdout, stderr, status } = spawnSync('sh', ['-c', shell, 'sh', ...command, '-e', text], { input, encoding: 'utf8' });
    console.log(`== ${name} ${status}\n${stdout}-- ${stderr.split('\n').slice(0, 9).join('\n')}`);
}

const collect = () => {
    let text = '';
    process.stdin.setEncoding('utf8');
    process.stdin.on('data', (part) => { text += part; }).on('end', () => console.log(text.length, text.slice(0, 12)));
};
run('in: a pipe', collect, undefined, 'grüße '.repeat(20000));
run('in: a file', collect, 'printf "from a file" > /tmp/weft-stdio-$$; "$@" < /tmp/weft-stdio-$$; rm /tmp/weft-stdio-$$');
run('in: nothing', collect, '"$@" < /dev/null');
run('in: slow', collect, '(printf one; printf two; printf three) | "$@"');
run('in: iterated', async () => {
    for await (const part of process.stdin)
        console.log(String(part).trim());
}, undefined, 'iterated\n');
run('in: at once', () => console.log(require('fs').readFileSync(0, 'utf8').length, require('fs').readFileSync('/dev/stdin').length),
    '"$@" < /dev/null');
run('in: at once', () => console.log(require('fs').readFileSync(0, 'utf8')), undefined, 'all of it');
run('in: lines', async () => {
    const reader = require('readline').createInterface({ input: process.stdin });
    for await (const line of reader)
        console.log(line.toUpperCase());
}, undefined, 'one\ntwo\r\nthree');
run('in: questions', () => {
    const reader = require('readline').createInterface({ input: process.stdin, output: process.stdout });
    reader.question('Who? ', (who) => {
        console.log(`Hello ${who}`);
        reader.close();
    });
    reader.on('close', () => console.log('closed'));
}, undefined, 'me\nand you\n');
run('out', () => {
    note(process.stdout.write('a', () => note('a is written')), process.stdout.write(Buffer.from('b'), () => note('b is written')));
    note(process.stdout.write('63', 'hex', () => note('c is written')), process.stdout.writableLength, process.stdout.writable);
    process.nextTick(() => note('tick'));
    console.log('d');
    note(process.stdout.fd, process.stdout.isTTY, process.stdout._type, process.stderr.fd, process.stdout.writableHighWaterMark);
});
run('out: a file', () => note(process.stdout.write('to a file'), process.stdout._type), '"$@" > /dev/null');
run('out: piped', () => process.stdin.pipe(process.stdout), undefined, 'through');
run('out: corked', () => {
    process.stdout.cork();
    process.stdout.write('one ');
    process.stdout.write('two ');
    note(process.stdout.writableLength);
    process.stdout.uncork();
    process.stdout.write('three\n');
});
run('out: replaced', () => {
    const { write } = process.stdout;
    const said = [];
    process.stdout.write = (text) => said.push(text);
    console.log('caught', 1);
    process.stdout.write = write;
    console.log('said', JSON.stringify(said));
});
run('out: full', () => {
    console.log('is lost');
    process.stdout.on('error', (error) => note('error', error.message));
    process.stdout.write('x', (error) => note('written', error.code));
    process.on('exit', (code) => note('exit', code));
}, '"$@" > /dev/full');
run('out: nobody reads', () => {
    process.stdout.on('error', (error) => {
        note('error', error.code, error.syscall);
        process.exit(7);
    });
    setInterval(() => process.stdout.write('x'.repeat(100)), 1);
}, '{ "$@"; echo $? >&2; } | true');
run('out: ended', () => {
    process.stdout.on('finish', () => note('finish'));
    process.stdout.end('last\n', () => note('ended'));
});
run('out: half characters', () => {
    process.stdout.write('a\ud800b\n');
    console.log('c\udfff');
    process.stdout.write('\ud83d\ude00\n');
});
