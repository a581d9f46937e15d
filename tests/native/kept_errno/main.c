/* A failed call's errno reaches the caller, and a call that succeeds keeps errno. Each call is made without a session,
 * and must have the same result and errno while a session records. `tfdarshan doctor` proves that each hook succeeds;
 * here are ways to fail, and first uses. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "recorded.h"

#define BEFORE EXDEV

/* What they work on. */
static char path[PATH_MAX], missing[PATH_MAX] = "/nonexistent/file", folder[PATH_MAX];
static char missing_template[] = "/nonexistent/XXXXXX";
static int fd, read_only, write_only, pipe_ends[2], closed_fd = 1000;
static FILE *stream, *read_only_stream, *write_only_stream;
static char buffer[100];
static struct iovec vector = {buffer, sizeof buffer};
static struct stat status;
static fpos_t bad_position;

/* Mistakes that the compiler must not see through. */
static void *volatile bad_address = (void *)8;
static volatile int minus_one = -1;
static const char *volatile no_path;

struct attempt {
    const char *name;
    long (*call)(void);
};

#define ATTEMPTS(X)                                                                                          \
    X(open_missing, open(missing, O_RDONLY))                                                                 \
    X(open64_missing, open64(missing, O_RDONLY))                                                             \
    X(open_folder_to_write, open(folder, O_WRONLY))                                                          \
    X(open_exclusively, open(path, O_CREAT | O_EXCL | O_RDWR, 0600))                                         \
    X(openat_no_folder, openat(closed_fd, "name", O_RDONLY))                                                 \
    X(creat_missing, creat(missing, 0600))                                                                   \
    X(mkstemp_missing, mkstemp(missing_template))                                                            \
    X(mkostemp_bad_template, mkostemp(path, 0))                                                              \
    X(close_closed, close(closed_fd))                                                                        \
    X(close_negative, close(-1))                                                                             \
    X(close_range_reversed, close_range(9, 8, 0))                                                            \
    X(read_closed, read(closed_fd, buffer, 1))                                                               \
    X(read_negative, read(-1, buffer, 1))                                                                    \
    X(read_write_only, read(write_only, buffer, 1))                                                          \
    X(pread_pipe, pread(pipe_ends[0], buffer, 1, 0))                                                         \
    X(pread_negative_offset, pread(fd, buffer, 1, -1))                                                       \
    X(readv_closed, readv(closed_fd, &vector, 1))                                                            \
    X(readv_bad_count, readv(fd, &vector, minus_one))                                                        \
    X(preadv_closed, preadv(closed_fd, &vector, 1, 0))                                                       \
    X(preadv2_bad_flags, preadv2(fd, &vector, 1, 0, 0x40000000))                                             \
    X(write_read_only, write(read_only, buffer, 1))                                                          \
    X(write_closed, write(closed_fd, buffer, 1))                                                             \
    X(pwrite_pipe, pwrite(pipe_ends[1], buffer, 1, 0))                                                       \
    X(writev_read_only, writev(read_only, &vector, 1))                                                       \
    X(pwritev_closed, pwritev(closed_fd, &vector, 1, 0))                                                     \
    X(lseek_pipe, lseek(pipe_ends[0], 0, SEEK_CUR))                                                          \
    X(lseek_negative, lseek(fd, -5, SEEK_SET))                                                               \
    X(fsync_pipe, fsync(pipe_ends[0]))                                                                       \
    X(fdatasync_closed, fdatasync(closed_fd))                                                                \
    X(dup_closed, dup(closed_fd))                                                                            \
    X(dup2_closed, dup2(closed_fd, fd))                                                                      \
    X(dup3_same, dup3(fd, fd, 0))                                                                            \
    X(fcntl_closed, fcntl(closed_fd, F_DUPFD, 0))                                                            \
    X(fcntl_bad_minimum, fcntl(fd, F_DUPFD, -1))                                                             \
    X(rename_missing, rename(missing, path))                                                                 \
    X(renameat_missing, renameat(AT_FDCWD, path, AT_FDCWD, missing))                                         \
    X(unlink_missing, unlink(missing))                                                                       \
    X(unlink_folder, unlink(folder))                                                                         \
    X(remove_missing, remove(missing))                                                                       \
    X(truncate_missing, truncate(missing, 0))                                                                \
    X(ftruncate_read_only, ftruncate(read_only, 0))                                                          \
    X(sendfile_closed, sendfile(fd, closed_fd, NULL, 10))                                                    \
    X(sendfile_at_end, sendfile(fd, read_only, NULL, 10))                                                    \
    X(copy_file_range_read_only, copy_file_range(fd, NULL, read_only, NULL, 10, 0))                          \
    X(splice_no_pipe, splice(fd, NULL, read_only, NULL, 10, 0))                                              \
    X(stat_missing, stat(missing, &status))                                                                  \
    X(lstat_missing, lstat(missing, &status))                                                                \
    X(fstatat_no_folder, fstatat(closed_fd, "name", &status, 0))                                             \
    X(fstat_closed, fstat(closed_fd, &status))                                                               \
    X(statx_bad_flags, statx(AT_FDCWD, path, 0x7fffffff, 0, (struct statx *)buffer))                         \
    X(mmap_closed, (long)mmap(NULL, 1, PROT_READ, MAP_PRIVATE, closed_fd, 0))                                \
    X(fopen_missing, fopen(missing, "r") != NULL)                                                            \
    X(fopen_bad_mode, fopen(path, "z") != NULL)                                                              \
    X(fdopen_closed, fdopen(closed_fd, "r") != NULL)                                                         \
    X(fdopen_bad_mode, fdopen(read_only, "w") != NULL)                                                       \
    X(fread_write_only, fread(buffer, 1, 1, write_only_stream))                                              \
    X(fgets_write_only, fgets(buffer, 10, write_only_stream) != NULL)                                        \
    X(fgetc_write_only, fgetc(write_only_stream))                                                            \
    X(fscanf_write_only, fscanf(write_only_stream, "%10s", buffer))                                          \
    X(fwrite_read_only, fwrite(buffer, 1, 1, read_only_stream))                                              \
    X(fputs_read_only, fputs("x", read_only_stream))                                                         \
    X(fputc_read_only, fputc('x', read_only_stream))                                                         \
    X(fprintf_read_only, fprintf(read_only_stream, "%d", 1))                                                 \
    X(fseek_bad_whence, fseek(stream, 0, 77))                                                                \
    X(fseek_negative, fseek(stream, -5, SEEK_SET))                                                           \
    X(fsetpos_negative, fsetpos(stream, &bad_position))                                                      \
    X(read_at_end, read(read_only, buffer, sizeof buffer))                                                   \
    X(pread_first_use, pread(fd, buffer, 1, 0))                                                              \
    X(write_first_use, write(write_only, "x", 1))                                                            \
    X(fstat_first_use, fstat(pipe_ends[0], &status))                                                         \
    X(fgetc_first_use, fgetc(stream))                                                                        \
    X(rewind_first_use, (rewind(stream), 0))                                                                 \
    X(fflush_all, fflush(NULL))                                                                              \
    X(fclose_memory, fclose(fmemopen(buffer, 10, "r")))                                                      \
    X(fileno_memory, fileno(fmemopen(buffer, 10, "r")))

/* Pointers that lead nowhere: not for tools that follow them themselves. */
#define BAD_POINTER_ATTEMPTS(X)                                                                              \
    X(read_bad_address, read(fd, bad_address, 10))                                                           \
    X(stat_null, stat(no_path, &status))                                                                     \
    X(readv_bad_vector, readv(fd, bad_address, 2))                                                           \
    X(pwritev_bad_vector, pwritev(fd, bad_address, 2, 0))                                                    \
    X(sendfile_bad_offset, sendfile(fd, read_only, bad_address, 10))                                         \
    X(copy_bad_offset, copy_file_range(read_only, bad_address, fd, NULL, 10, 0))                             \
    X(open_bad_path, open(bad_address, O_RDONLY))                                                            \
    X(fopen_bad_path, fopen(bad_address, "r") != NULL)                                                       \
    X(stat_bad_path, stat(bad_address, &status))                                                             \
    X(stat_bad_result, stat(path, bad_address))                                                              \
    X(unlink_bad_path, unlink(bad_address))                                                                  \
    X(rename_bad_path, rename(path, bad_address))

#define X(name, expression)                                                                                  \
    static long attempt_##name(void)                                                                         \
    {                                                                                                        \
        return (long)(expression);                                                                           \
    }
ATTEMPTS(X)
BAD_POINTER_ATTEMPTS(X)
#undef X

#define X(name, expression) {#name, attempt_##name},
static const struct attempt attempts[] = {ATTEMPTS(X)}, bad_pointer_attempts[] = {BAD_POINTER_ATTEMPTS(X){0}};
#undef X

#define ATTEMPT_COUNT (sizeof attempts / sizeof *attempts)
#define BAD_POINTER_COUNT (sizeof bad_pointer_attempts / sizeof *bad_pointer_attempts - 1)

struct result {
    long value;
    int error;
};

/* Streams are in the same state each time. */
static struct result try(const struct attempt *attempt)
{
    clearerr(stream);
    clearerr(read_only_stream);
    clearerr(write_only_stream);
    errno = BEFORE;
    long value = attempt->call();
    return (struct result){value, errno};
}

static void open_all(const char *directory)
{
    check_make_file(path, directory, "data", 0);
    snprintf(folder, sizeof folder, "%s", directory);
    memset(&bad_position, 0xff, sizeof bad_position);
    fd = open(path, O_RDWR);
    read_only = open(path, O_RDONLY);
    write_only = open(path, O_WRONLY | O_APPEND);
    stream = fopen(path, "r+");
    read_only_stream = fopen(path, "r");
    write_only_stream = fopen(path, "a");
    CHECK(fd >= 0 && read_only >= 0 && write_only >= 0 && stream && read_only_stream && write_only_stream);
    CHECK(pipe(pipe_ends) == 0);
    CHECK(write(write_only, "some bytes", 10) == 10 && lseek(read_only, 0, SEEK_END) == 10);
    CHECK(setvbuf(read_only_stream, NULL, _IONBF, 0) == 0);
}

static void try_all(const struct attempt *list, size_t count, const struct result *expected,
                    struct result *found)
{
    for (size_t i = 0; i < count; i++) {
        CHECK(lseek(read_only, 0, SEEK_END) > 0);
        struct result result = try(&list[i]);
        if (found)
            found[i] = result;
        else if (result.value != expected[i].value || result.error != expected[i].error) {
            fprintf(stderr, "%s: %ld and errno %d instead of %ld and %d\n", list[i].name, result.value,
                    result.error, expected[i].value, expected[i].error);
            _exit(1);
        }
    }
}

/* Alone twice, because the first calls of a stream differ from the others; then with a session that does not
 * know the descriptors yet, with one that does, and alone again. */
static void check_list(const char *directory, const struct attempt *list, size_t count)
{
    struct result alone[100];
    CHECK(count <= 100);
    try_all(list, count, NULL, alone);
    try_all(list, count, NULL, alone);
    check_start(directory);
    try_all(list, count, alone, NULL);
    try_all(list, count, alone, NULL);
    check_stop();
    try_all(list, count, alone, NULL);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    open_all(argv[1]);
    check_list(argv[1], attempts, ATTEMPT_COUNT);
    struct tfd_spool spool = recorded_open(argv[1], getpid());
    CHECK_EQUAL(recorded_tally(&spool, missing, TFD_OP_OPEN).failed, 6);
    CHECK_EQUAL(recorded_tally(&spool, missing, TFD_OP_STAT).failed, 4);
    /* A copy of nothing succeeds, whatever errno says of an earlier call. */
    struct tally copies = recorded_tally(&spool, path, TFD_OP_COPY_READ);
    CHECK_EQUAL(copies.calls, 2);
    CHECK_EQUAL(copies.failed, 0);
    recorded_close(&spool);
    check_drop_spool(argv[1], getpid());
    if (check_repeats(argc, argv, 1))
        check_list(argv[1], bad_pointer_attempts, BAD_POINTER_COUNT);
    return 0;
}
