// SPDX-License-Identifier: MIT
// js/lib/scope.js - scopes: blocks that do not end before what they have started.
(function (host, need) {
    'use strict';
    const { go, isFiber, wait } = need('fiber');

    // children.go(fn, ...arguments) starts a fiber in it. The first failure cancels the others and is the block's; so does an
    // error of the body.
    class Scope {
        #controller = new AbortController();
        #children = new Set();
        #failure;

        get signal() {
            return this.#controller.signal;
        }

        go(fn, ...values) {
            const child = go.with({ signal: this.signal }, fn, ...values);
            this.#children.add(child);
            child.catch((error) => this.#fail(error)).finally(() => this.#children.delete(child));
            return child;
        }

        cancel(reason) {
            this.#controller.abort(reason);
        }

        #fail(error) {
            if (!this.#failure && !this.signal.aborted) {
                this.#failure = { error };
                this.cancel(error);
            }
        }

        async #end() {
            while (this.#children.size > 0)
                await Promise.allSettled(this.#children);
            if (this.#failure)
                throw this.#failure.error;
        }

        static run(body) {
            const scope = new Scope();
            if (!isFiber())
                return Scope.#runLater(scope, body);
            let result;
            try {
                result = body(scope);
            } catch (error) {
                scope.#fail(error);
            }
            wait(scope.#end());
            return result;
        }

        static async #runLater(scope, body) {
            let result;
            try {
                result = await body(scope);
            } catch (error) {
                scope.#fail(error);
            }
            await scope.#end();
            return result;
        }
    }

    const scope = (body) => Scope.run(body);
    return { scope };
})
