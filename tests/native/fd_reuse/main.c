/* Descriptor numbers are reused for other files, in other threads, after every way to close them, and while nothing
 * records. No byte is charged to the wrong file. */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>

#include "recorded.h"

#define THREADS 16
#define FILES 64

static char paths[FILES][PATH_MAX], empty_folder[PATH_MAX];
static long rounds;

/* Each file's size is unmistakable. */
static off_t size_of(int file)
{
    return 1000 + 7 * file;
}

static void read_whole(int fd, int file)
{
    char buffer[4096];
    CHECK_EQUAL(read(fd, buffer, sizeof buffer), size_of(file));
    CHECK_EQUAL(pread(fd, buffer, sizeof buffer, 0), size_of(file));
}

static void close_somehow(int fd, int way)
{
    FILE *stream;
    switch (way % 4) {
    case 0:
        CHECK(close(fd) == 0);
        break;
    case 1:
        CHECK((stream = fdopen(fd, "r")) && fclose(stream) == 0);
        break;
    case 2:
        CHECK(close_range((unsigned)fd, (unsigned)fd, 0) == 0);
        break;
    case 3:
        CHECK(dup2(0, fd) == fd && close(fd) == 0);
        break;
    }
}

/* A pipe gets the number that a file had a moment ago. */
static void check_every_way_to_close(const char *directory)
{
    char bytes[10];
    int ends[2];
    check_start(directory);
    for (int way = 0; way < 4; way++) {
        int fd = open(paths[0], O_RDONLY);
        CHECK(fd >= 0 && read(fd, bytes, 10) == 10);
        close_somehow(fd, way);
        CHECK(pipe(ends) == 0 && ends[0] == fd && write(ends[1], "pipe!", 5) == 5);
        CHECK(read(ends[0], bytes, 10) == 5 && close(ends[0]) == 0 && close(ends[1]) == 0);
    }
    check_stop();
    struct tfd_spool spool = recorded_open(directory, getpid());
    CHECK_EQUAL(recorded_tally(&spool, NULL, TFD_OP_READ).bytes, 4 * 10);
    CHECK_EQUAL(recorded_other(&spool, TFD_OTHER_PIPE).bytes_read, 4 * 5);
    recorded_close(&spool);
    check_drop_spool(directory, getpid());
}

static void use_folder(void)
{
    struct stat status;
    DIR *folder = opendir(empty_folder);
    CHECK(folder && fstat(dirfd(folder), &status) == 0); /* known from here on, as no file */
    CHECK(readdir(folder) && closedir(folder) == 0);
}

static void use_pipe(void)
{
    char bytes[11];
    int ends[2];
    CHECK(pipe(ends) == 0 && write(ends[1], "0123456789", 10) == 10 && read(ends[0], bytes, 11) == 10);
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
}

static void *reopen(void *number)
{
    for (long round = 0; round < rounds; round++) {
        int file = (int)((round * 13 + (long)number) % FILES), fd = open(paths[file], O_RDONLY);
        CHECK(fd >= 0);
        read_whole(fd, file);
        close_somehow(fd, (int)round);
        if (round % 8 == 0) {
            use_folder();
            use_pipe();
        }
    }
    return NULL;
}

static void check_threads(const char *directory)
{
    pthread_t threads[THREADS];
    long opens[FILES] = {0};
    check_start(directory);
    for (long i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, reopen, (void *)i) == 0);
    for (long i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        for (long round = 0; round < rounds; round++)
            opens[(round * 13 + i) % FILES]++;
    }
    check_stop();
    struct tfd_spool spool = recorded_open(directory, getpid());
    CHECK_EQUAL(recorded_dropped(&spool), 0);
    for (int file = 0; file < FILES; file++) {
        CHECK_EQUAL(recorded_tally(&spool, paths[file], TFD_OP_OPEN).calls, opens[file]);
        CHECK_EQUAL(recorded_tally(&spool, paths[file], TFD_OP_READ).calls, opens[file]);
        CHECK_EQUAL(recorded_tally(&spool, paths[file], TFD_OP_READ).bytes, opens[file] * size_of(file));
        CHECK_EQUAL(recorded_tally(&spool, paths[file], TFD_OP_PREAD).bytes, opens[file] * size_of(file));
    }
    CHECK_EQUAL(recorded_other(&spool, TFD_OTHER_PIPE).bytes_read, THREADS * ((rounds + 7) / 8) * 10);
    recorded_close(&spool);
    check_drop_spool(directory, getpid());
}

/* The number is another file's, or a pipe's, when the next session begins. */
static void check_reused_while_detached(const char *directory)
{
    char bytes[300];
    int ends[2];
    int fd = open(paths[0], O_RDONLY), other = open(paths[1], O_RDONLY);
    check_start(directory);
    CHECK(read(fd, bytes, 100) == 100 && read(other, bytes, 10) == 10);
    check_stop();
    CHECK_EQUAL(recorded_here(directory, paths[0], TFD_OP_READ).bytes, 100);
    check_drop_spool(directory, getpid());
    CHECK(close(fd) == 0 && close(other) == 0);
    CHECK_EQUAL(open(paths[2], O_RDONLY), fd);
    CHECK(pipe(ends) == 0 && ends[0] == other);
    CHECK(read(fd, bytes, 50) == 50 && write(ends[1], bytes, 77) == 77);
    check_start(directory);
    CHECK(read(fd, bytes, 200) == 200 && read(ends[0], bytes, 300) == 77);
    check_stop();
    struct tfd_spool spool = recorded_open(directory, getpid());
    CHECK_EQUAL(recorded_tally(&spool, NULL, TFD_OP_READ).calls, 1);
    CHECK_EQUAL(recorded_tally(&spool, paths[2], TFD_OP_READ).bytes, 200);
    CHECK_EQUAL(recorded_other(&spool, TFD_OTHER_PIPE).bytes_read, 77);
    recorded_close(&spool);
    CHECK(close(fd) == 0 && close(ends[0]) == 0 && close(ends[1]) == 0);
    check_drop_spool(directory, getpid());
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    rounds = check_repeats(argc, argv, 1000);
    for (int file = 0; file < FILES; file++) {
        char name[20];
        snprintf(name, sizeof name, "file%d", file);
        check_make_file(paths[file], argv[1], name, size_of(file));
    }
    CHECK(mkdir(check_path(empty_folder, argv[1], "folder"), 0700) == 0);
    check_every_way_to_close(argv[1]);
    check_reused_while_detached(argv[1]);
    check_threads(argv[1]);
    return 0;
}
