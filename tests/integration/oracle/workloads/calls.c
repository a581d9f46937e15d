/* Every name that glibc has for a call on descriptors or paths, each on a file of that name. */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static char data[5000];
static struct iovec parts[] = {{data, 300}, {data + 300, 41}};
static const char *home;
static _Thread_local char path[PATH_MAX];

/* Gives the path of a file of this name, and an open descriptor of it, 5,000 bytes long. */
static int on(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", home, name);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    return write(fd, data, sizeof data) == sizeof data && !lseek(fd, 0, SEEK_SET) ? fd : -1;
}

static void expect(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "%s failed on %s\n", what, path);
        abort();
    }
}

#define CALL(name, result, ...)                                                                              \
    do {                                                                                                     \
        int fd = on(#name);                                                                                  \
        expect(name(__VA_ARGS__) == (result), #name);                                                        \
        close(fd);                                                                                           \
    } while (0)

#define OPEN(name, ...)                                                                                      \
    do {                                                                                                     \
        snprintf(path, sizeof path, "%s/%s", home, #name);                                                   \
        int fd = name(__VA_ARGS__);                                                                          \
        expect(fd >= 0 && write(fd, data, 77) == 77 && !close(fd), #name);                                   \
    } while (0)

#define TEMPORARY(name, suffix, ...)                                                                         \
    do {                                                                                                     \
        snprintf(path, sizeof path, "%s/" #name "XXXXXX" suffix, home);                                      \
        int fd = name(path __VA_ARGS__);                                                                     \
        expect(fd >= 0 && write(fd, data, 77) == 77 && !close(fd), #name);                                   \
    } while (0)

#define MAP(name)                                                                                            \
    do {                                                                                                     \
        int fd = on(#name);                                                                                  \
        void *mapping = name(NULL, 4321, PROT_READ, MAP_SHARED, fd, 0);                                      \
        expect(mapping != MAP_FAILED && !munmap(mapping, 4321), #name);                                      \
        close(fd);                                                                                           \
    } while (0)

static void open_files(void)
{
    int folder = open(home, O_RDONLY | O_DIRECTORY);
    int flags = O_WRONLY | O_CREAT;
    OPEN(open, path, flags, 0640);
    OPEN(open64, path, flags, 0640);
    OPEN(openat, folder, "openat", flags, 0640);
    OPEN(openat64, folder, "openat64", flags, 0640);
    OPEN(creat, path, 0640);
    OPEN(creat64, path, 0640);
    close(folder);
    TEMPORARY(mkstemp, "");
    TEMPORARY(mkstemp64, "");
    TEMPORARY(mkostemp, "", , O_CLOEXEC);
    TEMPORARY(mkostemp64, "", , O_CLOEXEC);
    TEMPORARY(mkstemps, ".s", , 2);
    TEMPORARY(mkstemps64, ".s", , 2);
    TEMPORARY(mkostemps, ".s", , 2, O_CLOEXEC);
    TEMPORARY(mkostemps64, ".s", , 2, O_CLOEXEC);
}

/* Names that no header declares. */
extern ssize_t __read(int fd, void *buffer, size_t count);
extern ssize_t __pwrite64(int fd, const void *buffer, size_t count, off64_t offset);

static void read_files(void)
{
    char buffer[sizeof data];
    CALL(read, 99, fd, buffer, 99);
    CALL(__read, 99, fd, buffer, 99);
    CALL(__pwrite64, 99, fd, buffer, 99, 7);
    CALL(pread, 98, fd, buffer, 98, 7);
    CALL(pread64, 97, fd, buffer, 97, 7);
    CALL(readv, 341, fd, parts, 2);
    CALL(preadv, 341, fd, parts, 2, 7);
    CALL(preadv64, 341, fd, parts, 2, 7);
    CALL(preadv2, 341, fd, parts, 2, 7, 0);
    CALL(preadv64v2, 341, fd, parts, 2, -1, 0);
    MAP(mmap);
    MAP(mmap64);
}

static void write_files(void)
{
    CALL(write, 99, fd, data, 99);
    CALL(pwrite, 98, fd, data, 98, 7);
    CALL(pwrite64, 97, fd, data, 97, 7);
    CALL(writev, 341, fd, parts, 2);
    CALL(pwritev, 341, fd, parts, 2, 7);
    CALL(pwritev64, 341, fd, parts, 2, 7);
    CALL(pwritev2, 341, fd, parts, 2, 7, 0);
    CALL(pwritev64v2, 341, fd, parts, 2, -1, 0);
    CALL(fsync, 0, fd);
    CALL(fdatasync, 0, fd);
    CALL(ftruncate, 0, fd, 1000);
    CALL(ftruncate64, 0, fd, 1000);
    CALL(truncate, 0, path, 1000);
    CALL(truncate64, 0, path, 1000);
    CALL(lseek, 7, fd, 7, SEEK_SET);
    CALL(lseek64, 7, fd, 7, SEEK_SET);
}

static int print_with(int fd, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int printed = vdprintf(fd, format, arguments);
    va_end(arguments);
    return printed;
}

static void print_files(void)
{
    CALL(dprintf, 9, fd, "%d %s", 12, "apples");
    CALL(print_with, 9, fd, "%d %s", 12, "apples");
}

static struct aiocb request_on(const char *name, int opcode, size_t count, off_t offset)
{
    return (struct aiocb){.aio_fildes = on(name),
                          .aio_buf = data,
                          .aio_nbytes = count,
                          .aio_offset = offset,
                          .aio_lio_opcode = opcode,
                          .aio_sigevent.sigev_notify = SIGEV_NONE};
}

/* Closes the file before it asks what the request gave, as a program may that waited for it. */
static void await(struct aiocb *request, ssize_t result)
{
    const struct aiocb *list[] = {request};
    while (aio_error(request) == EINPROGRESS)
        expect(!aio_suspend(list, 1, NULL), "aio_suspend");
    close(request->aio_fildes);
    expect(aio_return(request) == result, "aio_return");
}

static void request_files(void)
{
    struct aiocb read = request_on("aio_read", LIO_READ, 1234, 7),
                 beyond = request_on("beyond", LIO_READ, 9, 5000);
    struct aiocb write = request_on("aio_write", LIO_WRITE, 321, 6000),
                 sync = request_on("aio_fsync", 0, 0, 0);
    expect(!aio_read(&read) && !aio_read(&beyond) && !aio_write(&write) && !aio_fsync(O_SYNC, &sync), "aio");
    await(&read, 1234);
    await(&beyond, 0);
    await(&write, 321);
    await(&sync, 0);
    struct aiocb one = request_on("lio_read", LIO_READ, 100, 0),
                 two = request_on("lio_write", LIO_WRITE, 200, 0);
    struct aiocb nothing = {.aio_lio_opcode = LIO_NOP}, *list[] = {&one, NULL, &two, &nothing};
    expect(!lio_listio(LIO_WAIT, list, 4, NULL), "lio_listio");
    close(one.aio_fildes);
    close(two.aio_fildes);
}

static void copy_files(void)
{
    int pipes[2], target = on("target");
    expect(!pipe(pipes), "pipe");
    CALL(sendfile, 900, target, fd, NULL, 900);
    CALL(sendfile64, 901, target, fd, &(off64_t){5}, 901);
    CALL(copy_file_range, 902, fd, NULL, target, NULL, 902, 0);
    CALL(splice, 903, fd, NULL, pipes[1], NULL, 903, 0);
    expect(splice(pipes[0], NULL, target, NULL, 903, 0) == 903, "splice");
    close(pipes[0]);
    close(pipes[1]);
    close(target);
}

static void examine_files(void)
{
    struct stat status;
    struct stat64 status64;
    struct statx extended;
    CALL(stat, 0, path, &status);
    CALL(stat64, 0, path, &status64);
    CALL(lstat, 0, path, &status);
    CALL(lstat64, 0, path, &status64);
    CALL(fstatat, 0, AT_FDCWD, path, &status, 0);
    CALL(fstatat64, 0, fd, "", &status64, AT_EMPTY_PATH);
    CALL(statx, 0, AT_FDCWD, path, 0, STATX_SIZE, &extended);
    CALL(fstat, 0, fd, &status);
    CALL(fstat64, 0, fd, &status64);
}

static void use_duplicates(void)
{
    CALL(dup2, 333, fd, 333);
    CALL(dup3, 334, fd, 334, O_CLOEXEC);
    CALL(fcntl, 335, fd, F_DUPFD, 335);
    CALL(fcntl64, 336, fd, F_DUPFD_CLOEXEC, 336);
    for (int fd = 333; fd <= 336; fd++)
        expect(read(fd, data, 55) == 55, "read of a duplicate");
    close_range(333, 336, 0);
    int fd = on("dup"), twin = dup(fd);
    expect(write(twin, data, 66) == 66 && !close(fd) && !close(twin), "dup");
}

static void rename_and_remove_files(void)
{
    char other[PATH_MAX + 8];
    close(on("unlink"));
    expect(!unlink(path), "unlink");
    close(on("unlinkat"));
    expect(!unlinkat(AT_FDCWD, path, 0), "unlinkat");
    close(on("remove"));
    expect(!remove(path), "remove");
    close(on("rename"));
    snprintf(other, sizeof other, "%s.new", path);
    expect(!rename(path, other), "rename");
    close(on("renameat"));
    snprintf(other, sizeof other, "%s.new", path);
    expect(!renameat(AT_FDCWD, path, AT_FDCWD, other), "renameat");
    close(on("renameat2"));
    snprintf(other, sizeof other, "%s.new", path);
    expect(!renameat2(AT_FDCWD, path, AT_FDCWD, other, RENAME_NOREPLACE), "renameat2");
}

int use_calls(const char *directory)
{
    home = directory;
    open_files();
    read_files();
    write_files();
    print_files();
    request_files();
    copy_files();
    examine_files();
    use_duplicates();
    rename_and_remove_files();
    return 1;
}
