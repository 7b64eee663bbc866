// SPDX-License-Identifier: MIT
// js/lib/streams_text.js - TextEncoderStream and TextDecoderStream.
(function (host, need) {
    'use strict';

    const { invalidThis, expose, inspectAs } = need('streams_base');
    const { makeTransform } = need('streams_transform');

    const isLead = (unit) => unit >= 0xD800 && unit <= 0xDBFF;

    class TextEncoderStream {
        #state;

        constructor() {
            const encoder = new (need('encoding').TextEncoder)();
            // The first half of a surrogate pair waits for the second.
            let lead = '';
            this.#state = makeTransform((chunk, state) => {
                let text = lead + `${chunk}`;
                lead = '';
                const length = text.length;
                if (length > 0 && isLead(text.charCodeAt(length - 1))) {
                    lead = text[length - 1];
                    text = text.slice(0, length - 1);
                }
                if (text !== '') {
                    state.enqueue(encoder.encode(text));
                }
            }, (state) => {
                if (lead !== '') {
                    state.enqueue(new Uint8Array([0xEF, 0xBF, 0xBD]));
                }
            });
        }

        static #of(value) {
            try {
                return value.#state;
            } catch {
                throw invalidThis('TextEncoderStream');
            }
        }

        get encoding() {
            TextEncoderStream.#of(this);
            return 'utf-8';
        }

        get readable() {
            return TextEncoderStream.#of(this).readableObject();
        }

        get writable() {
            return TextEncoderStream.#of(this).writableObject();
        }
    }

    class TextDecoderStream {
        #decoder;
        #state;

        constructor(encoding = 'utf-8', options = undefined) {
            const decoder = new (need('encoding').TextDecoder)(encoding, options);
            this.#decoder = decoder;
            this.#state = makeTransform((chunk, state) => {
                const text = decoder.decode(chunk, { stream: true });
                if (text !== '') {
                    state.enqueue(text);
                }
            }, (state) => {
                const text = decoder.decode();
                if (text !== '') {
                    state.enqueue(text);
                }
            });
        }

        static #of(value) {
            try {
                return { state: value.#state, decoder: value.#decoder };
            } catch {
                throw invalidThis('TextDecoderStream');
            }
        }

        get encoding() {
            return TextDecoderStream.#of(this).decoder.encoding;
        }

        get fatal() {
            return TextDecoderStream.#of(this).decoder.fatal;
        }

        get ignoreBOM() {
            return TextDecoderStream.#of(this).decoder.ignoreBOM;
        }

        get readable() {
            return TextDecoderStream.#of(this).state.readableObject();
        }

        get writable() {
            return TextDecoderStream.#of(this).state.writableObject();
        }
    }

    expose(TextEncoderStream);
    expose(TextDecoderStream);
    inspectAs(TextEncoderStream, ({ encoding, readable, writable }) =>
        ['TextEncoderStream', { encoding, readable, writable }]);
    inspectAs(TextDecoderStream, ({ encoding, fatal, ignoreBOM, readable, writable }) =>
        ['TextDecoderStream', { encoding, fatal, ignoreBOM, readable, writable }]);

    return { TextEncoderStream, TextDecoderStream };
})
