// SPDX-License-Identifier: MIT
// js/lib/file_watch.js - what is watched: a file, a folder, or that with all folders below it, which may come and go meanwhile.
// host: see fs_plans.js
(function (host, need) {
    'use strict';
    const { files } = need('fs_plans');
    const { makeStats } = need('fs_stats');
    const NOW = 0, ALL = 1, FOLDER = 2;
    const MADE = 1, CAME = 8, ENDED = 65536;

    // Where the news of one watch come from, when it has the kernel's source for itself.
    class Alone {
        handle = files.watch(NOW); // for files.watchNext; undefined: it is closed

        add(path) {
            return files.watchAdd(NOW, this.handle, path, 0);
        }

        leave() {
            files.close(NOW, this.handle);
            this.handle = undefined;
        }
    }

    class Watching {
        #source;
        #isOpen = true;
        #path;
        #isDeep;
        #folders = new Map(); // id -> the folder, below the path

        // source: add(path, watching) -> id, leave(watching, ids). It is watched from here on.
        constructor(path, isDeep, source) {
            this.#path = path;
            this.#source = source;
            try {
                this.#folders.set(source.add(path, this), '');
                this.#isDeep = isDeep && makeStats(files.stat(NOW, path, 0, 0), false).isDirectory();
                if (this.#isDeep)
                    this.#addBelow('');
            } catch (error) {
                this.close();
                throw error;
            }
        }

        get isOpen() {
            return this.#isOpen;
        }

        // Whether there is nothing left that could tell anything.
        get isOver() {
            return !this.#isOpen || this.#folders.size === 0;
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
            this.#folders.set(this.#source.add(join(String(this.#path), below), this), below);
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
            const wasOpen = this.#isOpen;
            this.#isOpen = false;
            if (wasOpen)
                this.#source.leave(this, this.#folders.keys());
            return wasOpen;
        }
    }

    return { Watching, Alone };
})
