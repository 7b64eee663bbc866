// SPDX-License-Identifier: MIT
// js/lib/fs_stats.js - what node:fs says about files: constants, Stats, Dirent.
// host: files()
(function (host) {
    'use strict';
    const { O_DIRECTORY, O_NOFOLLOW, O_DIRECT } = host.files();
    const constants = Object.assign(Object.create(null), {
        UV_FS_SYMLINK_DIR: 1, UV_FS_SYMLINK_JUNCTION: 2, O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, UV_DIRENT_UNKNOWN: 0,
        UV_DIRENT_FILE: 1, UV_DIRENT_DIR: 2, UV_DIRENT_LINK: 3, UV_DIRENT_FIFO: 4, UV_DIRENT_SOCKET: 5, UV_DIRENT_CHAR: 6,
        UV_DIRENT_BLOCK: 7, EXTENSIONLESS_FORMAT_JAVASCRIPT: 0, EXTENSIONLESS_FORMAT_WASM: 1, S_IFMT: 61440, S_IFREG: 32768,
        S_IFDIR: 16384, S_IFCHR: 8192, S_IFBLK: 24576, S_IFIFO: 4096, S_IFLNK: 40960, S_IFSOCK: 49152, O_CREAT: 64, O_EXCL: 128,
        UV_FS_O_FILEMAP: 0, O_NOCTTY: 256, O_TRUNC: 512, O_APPEND: 1024, O_DIRECTORY, O_NOATIME: 262144,
        O_NOFOLLOW, O_SYNC: 1052672, O_DSYNC: 4096, O_DIRECT, O_NONBLOCK: 2048, S_IRWXU: 448, S_IRUSR: 256,
        S_IWUSR: 128, S_IXUSR: 64, S_IRWXG: 56, S_IRGRP: 32, S_IWGRP: 16, S_IXGRP: 8, S_IRWXO: 7, S_IROTH: 4, S_IWOTH: 2,
        S_IXOTH: 1, F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, UV_FS_COPYFILE_EXCL: 1, COPYFILE_EXCL: 1, UV_FS_COPYFILE_FICLONE: 2,
        COPYFILE_FICLONE: 2, UV_FS_COPYFILE_FICLONE_FORCE: 4, COPYFILE_FICLONE_FORCE: 4,
    });

    // What a mode, or the type of an entry, says: by the name of the method, its bits and its type.
    const kinds = {
        isDirectory: [constants.S_IFDIR, constants.UV_DIRENT_DIR], isFile: [constants.S_IFREG, constants.UV_DIRENT_FILE],
        isBlockDevice: [constants.S_IFBLK, constants.UV_DIRENT_BLOCK],
        isCharacterDevice: [constants.S_IFCHR, constants.UV_DIRENT_CHAR],
        isSymbolicLink: [constants.S_IFLNK, constants.UV_DIRENT_LINK], isFIFO: [constants.S_IFIFO, constants.UV_DIRENT_FIFO],
        isSocket: [constants.S_IFSOCK, constants.UV_DIRENT_SOCKET],
    };

    function addKinds(prototype, test) {
        for (const name of Object.keys(kinds)) {
            Object.defineProperty(prototype, name, {
                configurable: true,
                writable: true,
                enumerable: false,
                value: { [name]() { return test(this, ...kinds[name]); } }[name],
            });
        }
    }

    function StatsBase() {}
    addKinds(StatsBase.prototype, (stats, bits) => (Number(stats.mode) & constants.S_IFMT) === bits);

    // From the numbers of the host; see js/file_names.c.
    function fill(stats, numbers) {
        [stats.dev, stats.mode, stats.nlink, stats.uid, stats.gid, stats.rdev, stats.blksize, stats.ino, stats.size,
            stats.blocks] = numbers;
    }

    function addDates(stats) {
        stats.atime = dateOf(stats.atimeMs);
        stats.mtime = dateOf(stats.mtimeMs);
        stats.ctime = dateOf(stats.ctimeMs);
        stats.birthtime = dateOf(stats.birthtimeMs);
    }

    const dateOf = (milliseconds) => new Date(Math.round(Number(milliseconds)));

    function Stats(numbers) {
        if (numbers === undefined)
            return;
        fill(this, numbers);
        this.atimeMs = numbers[10] * 1000 + numbers[11] / 1e6;
        this.mtimeMs = numbers[12] * 1000 + numbers[13] / 1e6;
        this.ctimeMs = numbers[14] * 1000 + numbers[15] / 1e6;
        this.birthtimeMs = numbers[16] * 1000 + numbers[17] / 1e6;
        addDates(this);
    }
    Object.setPrototypeOf(Stats.prototype, StatsBase.prototype);

    function BigIntStats(numbers) {
        const nanoseconds = (i) => numbers[i] * 1000000000n + numbers[i + 1];
        const times = [nanoseconds(10), nanoseconds(12), nanoseconds(14), nanoseconds(16)];
        fill(this, numbers);
        [this.atimeMs, this.mtimeMs, this.ctimeMs, this.birthtimeMs] = times.map((time) => time / 1000000n);
        [this.atimeNs, this.mtimeNs, this.ctimeNs, this.birthtimeNs] = times;
        addDates(this);
    }
    Object.setPrototypeOf(BigIntStats.prototype, StatsBase.prototype);

    const makeStats = (numbers, isBig) => (isBig ? new BigIntStats(numbers) : new Stats(numbers));

    class StatFs {
        constructor([type, bsize, blocks, bfree, bavail, files, ffree]) {
            Object.assign(this, { type, bsize, blocks, bfree, bavail, files, ffree });
        }
    }

    const typeOf = Symbol('type');
    class Dirent {
        constructor(name, type, path) {
            this.name = name;
            this.parentPath = path;
            this.path = path;
            this[typeOf] = type;
        }
    }
    addKinds(Dirent.prototype, (entry, bits, type) => entry[typeOf] === type);

    return { constants, Stats, makeStats, StatFs, Dirent };
})
