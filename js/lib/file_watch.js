// SPDX-License-Identifier: MIT
// js/lib/file_watch.js - what is watched: a file, a folder, or that with all folders below it, which may come and go meanwhile.
// host: see fs_plans.js
(function (host, need) {
    'use strict';
    const { files } = need('fs_plans');
    const { makeStats } = need('fs_stats');
    const NOW = 0, ALL = 1, FOLDER = 2;
    const MADE = 1, CAME = 8, ENDED = 65536;

    class Watching {
        #handle;
        #path;
        #what;
        #isDeep;
        #folders = new Map(); // id -> the folder, below the path

        // what: weft's bits, 0 for all of them. It is watched from here on.
        constructor(path, isDeep, what) {
            this.#path = path;
            this.#what = what;
            this.#handle = files.watch(NOW);
            try {
                this.#folders.set(files.watchAdd(NOW, this.#handle, path, what), '');
                this.#isDeep = isDeep && makeStats(files.stat(NOW, path, 0, 0), false).isDirectory();
                if (this.#isDeep)
                    this.#addBelow('');
            } catch (error) {
                this.close();
                throw error;
            }
        }

        // For files.watchNext; undefined: it is closed.
        get handle() {
            return this.#handle;
        }

        // Whether there is nothing left that could tell anything.
        get isOver() {
            return this.#handle === undefined || this.#folders.size === 0;
        }

        // What watchNext has told, as [what, name, is a folder, cookie], and with a folder that is new what was made in it before
        // it could be watched. An empty name: what is watched itself.
        take([id, what, name, isFolder, cookie]) {
            const home = this.#folders.get(id) ?? '';
            if (what & ENDED)
                this.#folders.delete(id);
            if (home !== '' && name === '')
                return []; // its own folder tells the same
            const path = home === '' || name === '' ? name : `${home}/${name}`;
            const news = [[what, path, isFolder, cookie]];
            if (this.#isDeep && isFolder && what & (MADE | CAME))
                news.push(...this.#addNew(path));
            return news;
        }

        #add(below) {
            const { join } = need('path');
            this.#folders.set(files.watchAdd(NOW, this.#handle, join(String(this.#path), below), this.#what), below);
        }

        #addBelow(folder) {
            const { join } = need('path');
            const [names, kinds, homes] = files.list(NOW, join(String(this.#path), folder), ALL, 1, 0, 0);
            return names.map((name, i) => {
                const below = join(folder, homes[i], name);
                if (kinds[i] === FOLDER)
                    this.#add(below);
                return [MADE, below, kinds[i] === FOLDER, 0];
            });
        }

        #addNew(folder) {
            try {
                this.#add(folder);
                return this.#addBelow(folder);
            } catch (error) {
                if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR')
                    throw error;
                return []; // it is gone already
            }
        }

        // Whether it was open.
        close() {
            const handle = this.#handle;
            this.#handle = undefined;
            if (handle !== undefined)
                files.close(NOW, handle);
            return handle !== undefined;
        }
    }

    return { Watching };
})
