// SPDX-License-Identifier: MIT
// js/lib/tty.js - node:tty: terminals that are written to, their size and their colours.
// host: isTTY(fd), windowSize(fd), setTerminal(fd, how)
(function (host, need) {
    'use strict';
    const isatty = (fd) => Number.isInteger(fd) && fd >= 0 && fd <= 2147483647 && host.isTTY(fd);

    function later(name) {
        return {
            configurable: true,
            enumerable: true,
            get() {
                const value = name === 'WriteStream' ? makeWriteStream() : makeReadStream();
                Object.defineProperty(exported, name, { value, configurable: true, enumerable: true, writable: true });
                return value;
            },
        };
    }

    // Of 24, 8, 4 and 1 bits, what the environment speaks of.
    function colorDepth(env) {
        if (env.FORCE_COLOR !== undefined) {
            const depth = { '': 4, 1: 4, true: 4, 2: 8, 3: 24 }[env.FORCE_COLOR];
            return depth ?? 1;
        }
        if (env.NODE_DISABLE_COLORS || env.NO_COLOR || env.TERM === 'dumb')
            return 1;
        if (env.TMUX || env.COLORTERM === 'truecolor' || env.COLORTERM === '24bit')
            return 24;
        if (env.CI !== undefined)
            return 'GITHUB_ACTIONS' in env || 'GITEA_ACTIONS' in env ? 24
                : ['APPVEYOR', 'BUILDKITE', 'CIRCLECI', 'DRONE', 'GITLAB_CI', 'TRAVIS'].some((name) => name in env) ? 8 : 1;
        if (['iTerm.app', 'HyperTerm', 'MacTerm'].includes(env.TERM_PROGRAM))
            return 24;
        if (env.TERM_PROGRAM === 'Apple_Terminal' || /^xterm-256|-256/.test(env.TERM ?? ''))
            return 8;
        return /^(ansi|color|linux|screen|xterm|vt100|rxvt|cygwin|eterm|konsole|st|putty|terminator|mosh)/i.test(env.TERM ?? '')
            || env.COLORTERM ? 4 : 1;
    }

    function makeWriteStream() {
        const { Output } = need('stdout');
        const moves = need('readline_cursor');

        class WriteStream extends Output {
            constructor(fd) {
                super(fd);
                [this.columns, this.rows] = host.windowSize(fd) ?? [80, 24];
                this.once('newListener', (name) => {
                    if (name === 'resize')
                        globalThis.process.on('SIGWINCH', () => this._refreshSize());
                });
            }

            get isTTY() {
                return true;
            }

            _refreshSize() {
                const [columns, rows] = host.windowSize(this.fd) ?? [this.columns, this.rows];
                if (columns === this.columns && rows === this.rows)
                    return;
                [this.columns, this.rows] = [columns, rows];
                this.emit('resize');
            }

            getWindowSize() {
                return [this.columns, this.rows];
            }

            getColorDepth(env = globalThis.process.env) {
                return colorDepth(env);
            }

            hasColors(count, env) {
                if (env === undefined && (count === undefined || typeof count === 'object'))
                    [count, env] = [16, count];
                return count <= 2 ** this.getColorDepth(env);
            }

            cursorTo(x, y, callback) {
                return moves.cursorTo(this, x, y, callback);
            }

            moveCursor(dx, dy, callback) {
                return moves.moveCursor(this, dx, dy, callback);
            }

            clearLine(direction, callback) {
                return moves.clearLine(this, direction, callback);
            }

            clearScreenDown(callback) {
                return moves.clearScreenDown(this, callback);
            }
        }
        return WriteStream;
    }

    function makeReadStream() {
        const { Socket } = need('socket');

        class ReadStream extends Socket {
            #usual; // how the terminal was
            #isWatched = false;

            constructor(fd, options) {
                super({ fd, readable: true, writable: false, manualStart: true, ...options });
                this.fd = fd;
                this.isRaw = false;
                this.isTTY = true;
            }

            // Keys come one by one, and nobody shows them; at the end of the program it is as it was.
            setRawMode(isRaw) {
                if (!!isRaw === this.isRaw)
                    return this;
                const before = host.setTerminal(this.fd, isRaw ? undefined : this.#usual);
                if (isRaw)
                    this.#usual = before;
                this.isRaw = !!isRaw;
                if (!this.#isWatched)
                    globalThis.process.on('exit', () => this.setRawMode(false));
                this.#isWatched = true;
                return this;
            }
        }
        return ReadStream;
    }

    const exported = { isatty };
    Object.defineProperties(exported, { ReadStream: later('ReadStream'), WriteStream: later('WriteStream') });
    return exported;
})
