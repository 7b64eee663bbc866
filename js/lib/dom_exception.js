// SPDX-License-Identifier: MIT
// js/lib/dom_exception.js - DOMException with its legacy codes.
(function (host, need) {
    'use strict';

    const idl = need('idl');

    // The constants in the order of their codes.
    const constants = {
        INDEX_SIZE_ERR: 1, DOMSTRING_SIZE_ERR: 2, HIERARCHY_REQUEST_ERR: 3, WRONG_DOCUMENT_ERR: 4,
        INVALID_CHARACTER_ERR: 5, NO_DATA_ALLOWED_ERR: 6, NO_MODIFICATION_ALLOWED_ERR: 7, NOT_FOUND_ERR: 8,
        NOT_SUPPORTED_ERR: 9, INUSE_ATTRIBUTE_ERR: 10, INVALID_STATE_ERR: 11, SYNTAX_ERR: 12,
        INVALID_MODIFICATION_ERR: 13, NAMESPACE_ERR: 14, INVALID_ACCESS_ERR: 15, VALIDATION_ERR: 16,
        TYPE_MISMATCH_ERR: 17, SECURITY_ERR: 18, NETWORK_ERR: 19, ABORT_ERR: 20, URL_MISMATCH_ERR: 21,
        QUOTA_EXCEEDED_ERR: 22, TIMEOUT_ERR: 23, INVALID_NODE_TYPE_ERR: 24, DATA_CLONE_ERR: 25,
    };
    const codes = {
        __proto__: null,
        IndexSizeError: 1, DOMStringSizeError: 2, HierarchyRequestError: 3, WrongDocumentError: 4,
        InvalidCharacterError: 5, NoDataAllowedError: 6, NoModificationAllowedError: 7, NotFoundError: 8,
        NotSupportedError: 9, InUseAttributeError: 10, InvalidStateError: 11, SyntaxError: 12,
        InvalidModificationError: 13, NamespaceError: 14, InvalidAccessError: 15, ValidationError: 16,
        TypeMismatchError: 17, SecurityError: 18, NetworkError: 19, AbortError: 20, URLMismatchError: 21,
        QuotaExceededError: 22, TimeoutError: 23, InvalidNodeTypeError: 24, DataCloneError: 25,
    };

    // The private state is put onto an object that Error has made, so that it is an error to the engine as well.
    class Given {
        constructor(object) {
            return object;
        }
    }
    class State extends Given {
        #message;
        #name;
        constructor(object, message, name) {
            super(object);
            this.#message = message;
            this.#name = name;
        }
        static has(object) {
            return typeof object === 'object' && object !== null && #name in object;
        }
        static message(object) {
            if (!State.has(object)) {
                throw idl.illegalInvocation();
            }
            return object.#message;
        }
        static theName(object) {
            if (!State.has(object)) {
                throw idl.illegalInvocation();
            }
            return object.#name;
        }
    }

    class DOMException {
        constructor(message = '', options = 'Error') {
            message = idl.toDOMString(message);
            let name;
            let hasCause = false;
            let cause;
            if (typeof options === 'object' && options !== null) {
                const given = options.name;
                name = given === undefined ? 'Error' : idl.toDOMString(given);
                if ('cause' in options) {
                    hasCause = true;
                    cause = options.cause;
                }
            } else {
                name = idl.toDOMString(options);
            }
            const self = Reflect.construct(Error, [], new.target);
            new State(self, message, name);
            if (hasCause) {
                const descriptor = { value: cause, writable: true, enumerable: false, configurable: true };
                Object.defineProperty(self, 'cause', descriptor);
            }
            return self;
        }
        get name() {
            return State.theName(this);
        }
        get message() {
            return State.message(this);
        }
        get code() {
            return codes[State.theName(this)] ?? 0;
        }
    }
    Object.setPrototypeOf(DOMException.prototype, Error.prototype);
    idl.define(DOMException, constants);

    return { DOMException, isDOMException: State.has };
})
