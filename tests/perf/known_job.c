/* Jobs of which every total is known beforehand, from several threads at once. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_THREADS 64
#define FILES_PER_FOLDER 1000
#define EXPORTED __attribute__((visibility("default")))

struct part {
    pthread_t thread;
    const char *folder;
    const int *fds;
    long first, count; /* files, or reads */
    long files, file_bytes, longest_read;
    uint64_t random;
};

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void run(void *(*work)(void *), struct part *parts, int threads)
{
    for (int i = 0; i < threads; i++)
        if (pthread_create(&parts[i].thread, NULL, work, &parts[i]))
            fail("pthread_create");
    for (int i = 0; i < threads; i++)
        pthread_join(parts[i].thread, NULL);
}

static void split(struct part *parts, int threads, struct part whole)
{
    for (int i = 0; i < threads; i++) {
        parts[i] = whole;
        parts[i].first = whole.count * i / threads;
        parts[i].count = whole.count * (i + 1) / threads - parts[i].first;
        parts[i].random = whole.random + (uint64_t)i * 0x9e3779b97f4a7c15u;
    }
}

static void *read_files(void *argument)
{
    const struct part *part = argument;
    char path[PATH_MAX], block[4096];
    for (long file = part->first; file < part->first + part->count; file++) {
        snprintf(path, sizeof path, "%s/%04ld/%08ld.bin", part->folder, file / FILES_PER_FOLDER, file);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t got = pread(fd, block, sizeof block, 0);
        if (fd < 0 || got < 0 || pread(fd, block, sizeof block, got) != 0 || close(fd))
            fail(path);
    }
    return NULL;
}

/* Reads `files` files of less than 4096 bytes as tf.io.read_file does: open, pread, empty pread, close. */
EXPORTED void known_job_read_files(const char *folder, long files, int threads)
{
    struct part parts[MAX_THREADS];
    split(parts, threads, (struct part){.folder = folder, .count = files});
    run(read_files, parts, threads);
}

static uint64_t next_random(uint64_t *state)
{
    uint64_t value = *state += 0x9e3779b97f4a7c15u;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

static void *read_at_random(void *argument)
{
    struct part *part = argument;
    char *block = malloc((size_t)part->longest_read);
    for (long i = 0; i < part->count; i++) {
        long length = 1 + (long)(next_random(&part->random) % (uint64_t)part->longest_read);
        long offset = (long)(next_random(&part->random) % (uint64_t)(part->file_bytes - length));
        int fd = part->fds[next_random(&part->random) % (uint64_t)part->files];
        if (pread(fd, block, (size_t)length, offset) != length)
            fail("pread");
    }
    free(block);
    return NULL;
}

/* `reads` preads of random files `folder`/<number>, random offsets and random lengths up to `longest_read`. */
EXPORTED void known_job_read_at_random(const char *folder, long files, long file_bytes, long longest_read,
                                       long reads, int threads)
{
    struct part parts[MAX_THREADS];
    char path[PATH_MAX];
    int *fds = calloc((size_t)files, sizeof *fds);
    for (long file = 0; file < files; file++) {
        snprintf(path, sizeof path, "%s/%ld", folder, file);
        if ((fds[file] = open(path, O_RDONLY | O_CLOEXEC)) < 0)
            fail(path);
    }
    split(parts, threads,
          (struct part){.fds = fds,
                        .count = reads,
                        .files = files,
                        .file_bytes = file_bytes,
                        .longest_read = longest_read});
    run(read_at_random, parts, threads);
    for (long file = 0; file < files; file++)
        close(fds[file]);
    free(fds);
}

static void *read_one_byte(void *argument)
{
    const struct part *part = argument;
    char byte;
    for (long i = 0; i < part->count; i++)
        if (pread(part->fds[0], &byte, 1, 0) != 1)
            fail("pread");
    return NULL;
}

/* `reads` preads of one byte at the beginning of one file. */
EXPORTED void known_job_read_one_byte(const char *path, long reads, int threads)
{
    struct part parts[MAX_THREADS];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        fail(path);
    split(parts, threads, (struct part){.fds = &fd, .count = reads});
    run(read_one_byte, parts, threads);
    close(fd);
}
