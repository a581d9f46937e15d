#define _GNU_SOURCE
#include "wrappers/program_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MOST_SEGMENTS 32
#define MOST_LIBRARIES 512
#define MOST_SCRIPTS 5 /* scripts that run each other: the kernel's own limit */
#define LOADER_BYTES 128
#define SCRIPT_BYTES 256 /* of a script's first line: the kernel's own limit */
#define DEFAULT_PATH "/bin:/usr/bin"
#ifdef __x86_64__
#define OWN_MACHINE EM_X86_64
#else
#define OWN_MACHINE EM_AARCH64
#endif

struct program_file {
    int fd;
    ElfW(Ehdr) header;
    ElfW(Phdr) segments[MOST_SEGMENTS];
};

static bool read_at(int fd, void *out, size_t bytes, uint64_t offset)
{
    return pread(fd, out, bytes, (off_t)offset) == (ssize_t)bytes;
}

/* Read a text of the file, cut to `capacity`. */
static bool read_text(int fd, char *out, size_t capacity, uint64_t offset)
{
    ssize_t bytes = pread(fd, out, capacity - 1, (off_t)offset);
    out[bytes > 0 ? bytes : 0] = '\0';
    return bytes > 0;
}

static const ElfW(Phdr) * segment_of(const struct program_file *file, uint32_t type)
{
    for (size_t i = 0; i < file->header.e_phnum; i++)
        if (file->segments[i].p_type == type)
            return &file->segments[i];
    return NULL;
}

/* Return the file's offset of an address, 0 if the file does not hold it. */
static uint64_t offset_of(const struct program_file *file, uint64_t address)
{
    for (size_t i = 0; i < file->header.e_phnum; i++) {
        const ElfW(Phdr) *segment = &file->segments[i];
        if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
            address - segment->p_vaddr < segment->p_filesz)
            return address - segment->p_vaddr + segment->p_offset;
    }
    return 0;
}

static bool is_sanitizer(const char *library)
{
    static const char *const names[] = {"libasan.", "libtsan.",   "libmsan.",
                                        "liblsan.", "libhwasan.", "libclang_rt."};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(library, names[i], strlen(names[i])))
            return true;
    return false;
}

static uint64_t dynamic_value(const struct program_file *file, const ElfW(Phdr) * dynamic, int64_t tag)
{
    ElfW(Dyn) entry;
    size_t count = dynamic->p_filesz / sizeof entry;
    for (size_t i = 0; i < count && i < MOST_LIBRARIES; i++) {
        if (!read_at(file->fd, &entry, sizeof entry, dynamic->p_offset + i * sizeof entry) ||
            entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == tag)
            return entry.d_un.d_val;
    }
    return 0;
}

static bool needs_sanitizer(const struct program_file *file)
{
    const ElfW(Phdr) *dynamic = segment_of(file, PT_DYNAMIC);
    uint64_t texts = dynamic ? offset_of(file, dynamic_value(file, dynamic, DT_STRTAB)) : 0;
    size_t count = texts ? dynamic->p_filesz / sizeof(ElfW(Dyn)) : 0;
    for (size_t i = 0; i < count && i < MOST_LIBRARIES; i++) {
        ElfW(Dyn) entry;
        char name[32];
        if (!read_at(file->fd, &entry, sizeof entry, dynamic->p_offset + i * sizeof entry) ||
            entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_NEEDED && read_text(file->fd, name, sizeof name, texts + entry.d_un.d_val) &&
            is_sanitizer(name))
            return true;
    }
    return false;
}

/* Return the loader that this process's program names, NULL if there is none. */
static const char *own_loader(void)
{
    const ElfW(Phdr) *segments = (const ElfW(Phdr) *)getauxval(AT_PHDR);
    size_t count = segments ? getauxval(AT_PHNUM) : 0;
    uintptr_t base = 0;
    for (size_t i = 0; i < count; i++)
        if (segments[i].p_type == PT_PHDR)
            base = (uintptr_t)segments - segments[i].p_vaddr;
    for (size_t i = 0; i < count; i++)
        if (segments[i].p_type == PT_INTERP)
            return (const char *)(base + segments[i].p_vaddr);
    return NULL;
}

static bool is_same_file(const char *one, const char *other)
{
    struct stat a, b;
    return !strcmp(one, other) ||
           (!stat(one, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

static enum tfd_program look_at_elf(struct program_file *file)
{
    char loader[LOADER_BYTES];
    const ElfW(Ehdr) *header = &file->header;
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != OWN_MACHINE)
        return TFD_PROGRAM_OTHER_LOADER;
    if (header->e_phentsize != sizeof *file->segments || header->e_phnum > MOST_SEGMENTS ||
        !read_at(file->fd, file->segments, header->e_phnum * sizeof *file->segments, header->e_phoff))
        return TFD_PROGRAM_UNREADABLE;
    const ElfW(Phdr) *interpreter = segment_of(file, PT_INTERP);
    if (!interpreter)
        return TFD_PROGRAM_STATIC;
    const char *expected = own_loader();
    if (!expected || !read_text(file->fd, loader, sizeof loader, interpreter->p_offset) ||
        !is_same_file(loader, expected))
        return TFD_PROGRAM_OTHER_LOADER;
    return needs_sanitizer(file) ? TFD_PROGRAM_SANITIZED : TFD_PROGRAM_TAKES_IT;
}

/* Cut the interpreter's path out of a script's first line. If a file is neither a script nor a program, the shell runs
 * it, if anything does. */
static const char *interpreter_of(int fd, char line[SCRIPT_BYTES])
{
    if (!read_text(fd, line, SCRIPT_BYTES, 0) || strncmp(line, "#!", 2))
        return "/bin/sh";
    char *path = line + 2 + strspn(line + 2, " \t");
    path[strcspn(path, " \t\n")] = '\0';
    return path;
}

/* Capabilities of a file give root nothing. */
static bool gains_privileges(int fd)
{
    struct stat status;
    bool other = !fstat(fd, &status) && (((status.st_mode & S_ISUID) && status.st_uid != geteuid()) ||
                                         ((status.st_mode & S_ISGID) && status.st_gid != getegid()));
    return other || (getuid() && fgetxattr(fd, "security.capability", NULL, 0) > 0);
}

/* If the file is a script, `script` becomes its interpreter's path, which lies in `line`. */
static enum tfd_program look_at(int fd, char line[SCRIPT_BYTES], const char **script)
{
    struct program_file file = {.fd = fd};
    if (gains_privileges(fd))
        return TFD_PROGRAM_PRIVILEGED;
    if (read_at(fd, &file.header, sizeof file.header, 0) && !memcmp(file.header.e_ident, ELFMAG, SELFMAG))
        return look_at_elf(&file);
    *script = interpreter_of(fd, line);
    return TFD_PROGRAM_UNREADABLE;
}

static enum tfd_program look_at_path(int dirfd, const char *path)
{
    char line[SCRIPT_BYTES];
    enum tfd_program found = TFD_PROGRAM_UNREADABLE;
    for (int scripts = 0; path && scripts <= MOST_SCRIPTS; scripts++) {
        if (faccessat(dirfd, path, X_OK, 0))
            return TFD_PROGRAM_NONE;
        int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0)
            return TFD_PROGRAM_UNREADABLE;
        path = NULL;
        found = look_at(fd, line, &path);
        close(fd);
        dirfd = AT_FDCWD;
    }
    return found;
}

enum tfd_program tfd_program_look_at(int dirfd, const char *path, const char *library)
{
    int saved_errno = errno;
    enum tfd_program found = look_at_path(dirfd, path);
    if (found == TFD_PROGRAM_TAKES_IT && access(library, R_OK))
        found = TFD_PROGRAM_LIBRARY_GONE;
    errno = saved_errno;
    return found;
}

bool tfd_program_find(const char *name, char *out, size_t capacity)
{
    int saved_errno = errno;
    const char *folder = getenv("PATH");
    bool found = false;
    for (folder = folder ? folder : DEFAULT_PATH; folder && !found;) {
        size_t length = strcspn(folder, ":");
        struct stat status;
        int written = snprintf(out, capacity, "%.*s%s%s", (int)length, folder, length ? "/" : "", name);
        found = written > 0 && (size_t)written < capacity && !access(out, X_OK) && !stat(out, &status) &&
                S_ISREG(status.st_mode);
        folder = folder[length] ? folder + length + 1 : NULL;
    }
    errno = saved_errno;
    return found;
}
