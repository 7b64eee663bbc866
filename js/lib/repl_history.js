// SPDX-License-Identifier: MIT
// js/lib/repl_history.js - the lines that were typed, in a file of the user's own: one line each, the oldest first.
//
// Each line is added at once, so that several may type at a time. A file that has grown to twice what is remembered is cut when it
// is read. What goes wrong with it is said once, and then there is none.
(function (host, need) {
    'use strict';
    const { HISTORY_MOST } = need('line_editor');
    const fs = need('fs');
    const path = need('path');

    function fileName(env) {
        if (env.WEFT_HISTORY !== undefined)
            return env.WEFT_HISTORY === '' ? undefined : path.resolve(env.WEFT_HISTORY);
        if (env.XDG_STATE_HOME)
            return path.join(env.XDG_STATE_HOME, 'weft', 'history');
        return env.HOME ? path.join(env.HOME, '.weft_history') : undefined;
    }

    // { lines, add(line) }. tell(text): what goes wrong.
    function open(env, tell) {
        let file = fileName(env);
        let lines = [];
        const guard = (what, act) => {
            if (file === undefined)
                return;
            try {
                act();
            } catch (error) {
                tell(`The history is not ${what}: ${error.message}`);
                file = undefined;
            }
        };
        guard('read', () => {
            if (!fs.existsSync(file)) {
                fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
                return;
            }
            const all = fs.readFileSync(file, 'utf8').split('\n').filter((line) => line !== '');
            lines = all.slice(-HISTORY_MOST);
            if (all.length >= 2 * HISTORY_MOST) {
                const fresh = `${file}.${process.pid}`;
                fs.writeFileSync(fresh, `${lines.join('\n')}\n`, { mode: 0o600 });
                fs.renameSync(fresh, file);
            }
        });
        const add = (line) => guard('kept', () => fs.appendFileSync(file, `${line}\n`, { mode: 0o600 }));
        return { lines, add };
    }

    return { open };
})
