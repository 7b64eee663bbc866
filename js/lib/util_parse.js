// SPDX-License-Identifier: MIT
// js/lib/util_parse.js - util.parseArgs and util.parseEnv.
// host: nothing; process.argv and process.execArgv where no arguments are given.
(function (host, need) {
    'use strict';

    const nodeErrors = need('node_error');
    const { nodeError, invalidArgType } = nodeErrors;

    function defaultArguments() {
        const { process } = globalThis;
        if (!process || !process.argv) return [];
        const flags = process.execArgv || [];
        // With --eval there is no script name to skip.
        return process.argv.slice(flags.some((flag) => /^(?:-e|--eval|-p|--print|-pe)$/.test(flag)) ? 1 : 2);
    }

    function checkDefault(option, name) {
        const check = option.type === 'string' ? nodeErrors.validateString : nodeErrors.validateBoolean;
        if (!option.multiple) {
            check(option.default, name);
            return;
        }
        nodeErrors.validateArray(option.default, name);
        option.default.forEach((item, i) => check(item, `${name}[${i}]`));
    }

    function checkOptions(options) {
        for (const key of Object.keys(options)) {
            const option = options[key];
            const name = `options.${key}`;
            nodeErrors.validateObject(option, name);
            if (option.type !== 'string' && option.type !== 'boolean') {
                throw invalidArgType(`${name}.type`, '(\'string|boolean\')', option.type);
            }
            if (Object.hasOwn(option, 'short')) {
                nodeErrors.validateString(option.short, `${name}.short`);
                if (option.short.length !== 1) {
                    throw nodeErrors.invalidArgValue(`${name}.short`, option.short, 'must be a single character');
                }
            }
            if (Object.hasOwn(option, 'multiple')) nodeErrors.validateBoolean(option.multiple, `${name}.multiple`);
            if (option.default !== undefined) checkDefault(option, `${name}.default`);
        }
    }

    class Scanner {
        constructor(args, options) {
            this.rest = args.map((text, index) => ({ text, index, isFromGroup: false }));
            this.options = options;
            this.tokens = [];
        }

        typeOf(name) {
            return Object.hasOwn(this.options, name) ? this.options[name].type : undefined;
        }

        longNameOf(letter) {
            const found = Object.keys(this.options).find((name) => this.options[name].short === letter);
            return found === undefined ? letter : found;
        }

        option(name, rawName, index, value, inlineValue) {
            this.tokens.push({ kind: 'option', name, rawName, index, value, inlineValue });
        }

        // An option that wants a value and has none behind "=" takes the next argument, if there is one.
        optionMaybeWithNext(name, rawName, index) {
            const next = this.rest[0];
            if (this.typeOf(name) === 'string' && next !== undefined && !next.isFromGroup) {
                this.rest.shift();
                this.option(name, rawName, index, next.text, false);
            } else {
                this.option(name, rawName, index, undefined, undefined);
            }
        }

        // "-abc": letters one by one, until one takes the rest as its value.
        group(text, index) {
            const pieces = [];
            for (let i = 1; i < text.length; i++) {
                const isString = this.typeOf(this.longNameOf(text[i])) === 'string';
                if (isString && i < text.length - 1) {
                    pieces.push({ text: '-' + text[i], index, isFromGroup: true, value: text.slice(i + 1) });
                    break;
                }
                pieces.push({ text: '-' + text[i], index, isFromGroup: i < text.length - 1 });
            }
            for (const piece of pieces) {
                const name = this.longNameOf(piece.text[1]);
                if (piece.value !== undefined) this.option(name, piece.text, index, piece.value, true);
                else if (piece.isFromGroup) this.option(name, piece.text, index, undefined, undefined);
                else this.optionMaybeWithNext(name, piece.text, index);
            }
        }

        scan() {
            while (this.rest.length > 0) {
                const { text, index } = this.rest.shift();
                if (text === '--') {
                    this.tokens.push({ kind: 'option-terminator', index });
                    for (const left of this.rest) this.tokens.push({ kind: 'positional', index: left.index, value:
                        left.text });
                    break;
                }
                const equals = text.indexOf('=', 3);
                if (text.length >= 2 && text[0] === '-' && text[1] !== '-') {
                    this.group(text, index);
                } else if (text.length > 2 && text.startsWith('--') && equals < 0) {
                    this.optionMaybeWithNext(text.slice(2), text, index);
                } else if (text.startsWith('--') && text.length > 2) {
                    this.option(text.slice(2, equals), text.slice(0, equals), index, text.slice(equals + 1), true);
                } else {
                    this.tokens.push({ kind: 'positional', index, value: text });
                }
            }
            return this.tokens;
        }
    }

    function usageError(message) {
        return nodeError(TypeError, 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE', message);
    }

    function fullName(token, options) {
        const { short } = options[token.name] || {};
        return (short ? `-${short}, ` : '') + `--${token.name}`;
    }

    // A value that looks like an option was more likely forgotten than meant.
    function checkAmbiguous(token) {
        if (token.inlineValue || token.value === undefined || token.value.length < 2 || token.value[0] !== '-') return;
        const isShort = token.rawName.length === 2;
        const example = isShort ? `'--${token.name}=-XYZ' or '${token.rawName}-XYZ'` : `'${token.rawName}=-XYZ'`;
        throw usageError(`Option '${token.rawName}' argument is ambiguous.\n` +
            `Did you forget to specify the option argument for '${token.rawName}'?\n` +
            `To specify an option argument starting with a dash use ${example}.`);
    }

    function unknownOption(token, allowPositionals) {
        const hint = allowPositionals ?
            `. To specify a positional argument starting with a '-', place it at the end of the ` +
            `command after '--', as in '-- ${JSON.stringify(token.rawName)}` : '';
        return nodeError(TypeError, 'ERR_PARSE_ARGS_UNKNOWN_OPTION', `Unknown option '${token.rawName}'${hint}`);
    }

    function checkToken(token, options, settings) {
        const isNegated = settings.allowNegative && token.name.startsWith('no-') && !Object.hasOwn(options, token.name);
        const name = isNegated ? token.name.slice(3) : token.name;
        if (!Object.hasOwn(options, name) || (isNegated && options[name].type !== 'boolean')) {
            throw unknownOption(token, settings.allowPositionals);
        }
        const { type } = options[name];
        const shown = fullName({ ...token, name }, options);
        if (type === 'string' &&
            typeof token.value !== 'string') throw usageError(`Option '${shown} <value>' argument missing`);
        if (type === 'boolean' && token.value !== undefined) throw usageError(`Option '${shown}' does not take an argument`);
    }

    function store(token, options, values, allowNegative) {
        let { name } = token;
        let value = token.value === undefined ? true : token.value;
        if (name === '__proto__') return;
        if (allowNegative && name.startsWith('no-') && token.value === undefined && !Object.hasOwn(options, name)) {
            name = name.slice(3);
            token.name = name;
            value = false;
        }
        if (Object.hasOwn(options, name) && options[name].multiple) {
            if (values[name]) values[name].push(value);
            else values[name] = [value];
        } else {
            values[name] = value;
        }
    }

    function take(config, name, fallback, check) {
        const value = Object.hasOwn(config, name) ? config[name] ?? fallback : fallback;
        check(value, name);
        return value;
    }

    function parseArgs(config = {}) {
        const args = take(config, 'args', config.args ? undefined : defaultArguments(), nodeErrors.validateArray);
        const strict = take(config, 'strict', true, nodeErrors.validateBoolean);
        const allowPositionals = take(config, 'allowPositionals', !strict, nodeErrors.validateBoolean);
        const wantsTokens = take(config, 'tokens', false, nodeErrors.validateBoolean);
        const allowNegative = take(config, 'allowNegative', false, nodeErrors.validateBoolean);
        const options = take(config, 'options', { __proto__: null }, nodeErrors.validateObject);
        checkOptions(options);
        const tokens = new Scanner(args, options).scan();
        const result = { values: { __proto__: null }, positionals: [] };
        if (wantsTokens) result.tokens = tokens;
        for (const token of tokens) {
            if (token.kind === 'option') {
                if (strict) {
                    checkToken(token, options, { allowPositionals, allowNegative });
                    if (options[token.name] && options[token.name].type === 'string') checkAmbiguous(token);
                }
                store(token, options, result.values, allowNegative);
            } else if (token.kind === 'positional') {
                if (!allowPositionals) {
                    throw nodeError(TypeError, 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL',
                        `Unexpected argument '${token.value}'. This command does not take positional arguments`);
                }
                result.positionals.push(token.value);
            }
        }
        for (const name of Object.keys(options)) {
            if (options[name].default !== undefined &&
                result.values[name] === undefined) result.values[name] = options[name].default;
        }
        return result;
    }

    // The text of a file of NAME=value lines. Quoted values may run over lines; only double quotes know \n.
    function parseEnv(content) {
        const values = {};
        const line = /^[ \t]*(?:export[ \t]+)?([^=\s#'"`][^=\n]*?)[ \t]*=[ \t]*(?:"([^"]*)"|'([^']*)'|`([^`]*)`|([^\n]*))/gm;
        const text = content.replace(/\r\n?/g, '\n');
        for (const [, name, double, single, back, bare] of text.matchAll(line)) {
            if (double !== undefined) values[name] = double.replaceAll('\\n', '\n');
            else if (bare === undefined) values[name] = single === undefined ? back : single;
            else if (!/^["'`]/.test(bare)) values[name] = bare.replace(/#.*$/, '').trim();
        }
        return values;
    }

    return { parseArgs, parseEnv };
})
