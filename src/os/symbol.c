/* SPDX-License-Identifier: MIT
 *
 * os/symbol.c - from an address to the name of its function.
 *
 * The C library only knows exported names, and most functions of a C program are static. So the file that the address
 * was mapped from is looked up in /proc/self/maps and its symbol table is read: .symtab when it was not stripped, else
 * .dynsym. Only system calls and a few hundred bytes of stack: this runs in the fault handler.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/memory.h"
#include "os/report.h"

struct mapping {
    uintptr_t low;
    uint64_t offset; /* of the file, at low */
    char path[192];
};

static bool find_mapping(uintptr_t address, struct mapping *out);
static bool parse_line(const char *line, uintptr_t address, struct mapping *out);
static bool find_symbol(const char *path, uint64_t file_offset, char *buffer, size_t size);
static bool scan_table(const unsigned char *image, size_t length, uint64_t virtual_address, uint32_t type, char *buffer,
                       size_t size);

void wf_symbol_name(const void *address, char *buffer, size_t size) {
    struct mapping mapping;
    if (!find_mapping((uintptr_t)address, &mapping)) {
        snprintf(buffer, size, "%p", address);
        return;
    }
    uint64_t offset = (uintptr_t)address - mapping.low + mapping.offset;
    if (find_symbol(mapping.path, offset, buffer, size))
        return;
    const char *file = strrchr(mapping.path, '/');
    snprintf(buffer, size, "%s+0x%llx", file ? file + 1 : mapping.path, (unsigned long long)offset);
}

static bool find_mapping(uintptr_t address, struct mapping *out) {
    char text[1024];
    size_t used = 0;
    bool found = false;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while (!found) {
        ssize_t got = read(fd, text + used, sizeof text - 1 - used);
        if (got <= 0)
            break;
        used += (size_t)got;
        text[used] = 0;
        char *line = text;
        for (char *end; !found && (end = strchr(line, '\n')); line = end + 1) {
            *end = 0;
            found = parse_line(line, address, out);
        }
        used -= (size_t)(line - text);
        memmove(text, line, used);
        if (used == sizeof text - 1) /* a line longer than the buffer: skip what we have of it */
            used = 0;
    }
    close(fd);
    return found;
}

/* "low-high perms offset device inode   path" */
static bool parse_line(const char *line, uintptr_t address, struct mapping *out) {
    char *at;
    uintptr_t low = strtoull(line, &at, 16);
    uintptr_t high = *at == '-' ? strtoull(at + 1, &at, 16) : 0;
    if (address < low || address >= high)
        return false;
    at = strchr(at + 1, ' ');
    if (!at)
        return false;
    out->low = low;
    out->offset = strtoull(at, NULL, 16);
    const char *path = strchr(at, '/');
    size_t length = path ? strlen(path) : sizeof out->path;
    if (length >= sizeof out->path)
        return false;
    memcpy(out->path, path, length + 1);
    return true;
}

static bool find_symbol(const char *path, uint64_t file_offset, char *buffer, size_t size) {
    struct stat status;
    bool found = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (fstat(fd, &status) != 0 || status.st_size < (off_t)sizeof(Elf64_Ehdr))
        goto close_file;
    size_t length = (size_t)status.st_size;
    const unsigned char *image = mmap(NULL, length, PROT_READ, MAP_PRIVATE, fd, 0);
    if (image == MAP_FAILED)
        goto close_file;
    wf_os_forget((void *)image, length); /* there may have been a thread's stack here */

    const Elf64_Ehdr *header = (const void *)image;
    const Elf64_Phdr *segment = (const void *)(image + header->e_phoff);
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64 &&
        header->e_phoff + header->e_phnum * sizeof *segment <= length) {
        for (int i = 0; i < header->e_phnum && !found; i++) {
            const Elf64_Phdr *s = &segment[i];
            if (s->p_type != PT_LOAD || file_offset < s->p_offset || file_offset >= s->p_offset + s->p_filesz)
                continue;
            uint64_t virtual_address = file_offset - s->p_offset + s->p_vaddr;
            found = scan_table(image, length, virtual_address, SHT_SYMTAB, buffer, size) ||
                    scan_table(image, length, virtual_address, SHT_DYNSYM, buffer, size);
        }
    }
    munmap((void *)image, length);
close_file:
    close(fd);
    return found;
}

static bool scan_table(const unsigned char *image, size_t length, uint64_t virtual_address, uint32_t type, char *buffer,
                       size_t size) {
    const Elf64_Ehdr *header = (const void *)image;
    const Elf64_Shdr *sections = (const void *)(image + header->e_shoff);
    if (header->e_shoff == 0 || header->e_shoff + header->e_shnum * sizeof *sections > length)
        return false;
    for (int i = 0; i < header->e_shnum; i++) {
        const Elf64_Shdr *table = &sections[i];
        if (table->sh_type != type || table->sh_link >= header->e_shnum)
            continue;
        const Elf64_Shdr *strings = &sections[table->sh_link];
        if (table->sh_offset + table->sh_size > length || strings->sh_offset + strings->sh_size > length)
            continue;
        const Elf64_Sym *symbols = (const void *)(image + table->sh_offset);
        for (size_t k = 0; k < table->sh_size / sizeof *symbols; k++) {
            const Elf64_Sym *s = &symbols[k];
            if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || s->st_name >= strings->sh_size)
                continue;
            if (virtual_address < s->st_value || virtual_address >= s->st_value + (s->st_size ? s->st_size : 1))
                continue;
            snprintf(buffer, size, "%s", (const char *)image + strings->sh_offset + s->st_name);
            return true;
        }
    }
    return false;
}
