/* A target of libFuzzer (make fuzz) that any other compiler makes a program of: it tries each file of a folder.
 *
 * A target has fuzz_begin, which makes what all tries share, and fuzz_one, which tries one input. */
#ifndef FUZZ_H
#define FUZZ_H

#include <dirent.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "check.h"

static void fuzz_begin(const char *directory);
static void fuzz_one(const uint8_t *data, size_t size);

/* What is left of an input. Numbers that it lacks are 0. */
struct fuzz_input {
    const uint8_t *data;
    size_t size;
};

static inline void fuzz_take(struct fuzz_input *input, void *to, size_t size)
{
    size_t there = size < input->size ? size : input->size;
    memset(to, 0, size);
    if (there)
        memcpy(to, input->data, there);
    input->data += there;
    input->size -= there;
}

static inline uint64_t fuzz_number(struct fuzz_input *input, size_t bytes)
{
    uint64_t number = 0;
    fuzz_take(input, &number, bytes);
    return number;
}

/* A file of some content, which is opened by its path. */
struct fuzz_file {
    int fd;
    char path[32];
    uint8_t *whole;
    size_t size;
};

static inline void fuzz_write(const struct fuzz_file *file, size_t at, const void *from, size_t size)
{
    CHECK(pwrite(file->fd, from, size, (off_t)at) == (ssize_t)size);
}

/* Takes over the content. */
static inline void fuzz_file_make(struct fuzz_file *file, void *content, size_t size)
{
    *file = (struct fuzz_file){.fd = memfd_create("fuzz", 0), .whole = content, .size = size};
    CHECK(file->fd >= 0);
    snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->fd);
    fuzz_write(file, 0, content, size);
}

static inline void fuzz_file_restore(const struct fuzz_file *file)
{
    CHECK(ftruncate(file->fd, (off_t)file->size) == 0);
    fuzz_write(file, 0, file->whole, file->size);
}

/* A change of a file: up to eight bytes somewhere in a part of it. */
struct fuzz_part {
    size_t begin, size;
};

enum { FUZZ_MOST_CHANGES = 32 };

/* The parts are those that an input names by one byte, `all` by any other. Cuts the file where an input says so. */
static inline void fuzz_change(const struct fuzz_file *file, const struct fuzz_part *parts, size_t count,
                               struct fuzz_input *input)
{
    const struct fuzz_part all = {0, file->size};
    for (int change = 0; change < FUZZ_MOST_CHANGES && input->size; change++) {
        uint64_t which = fuzz_number(input, 1), length = 1 + fuzz_number(input, 1) % 8;
        const struct fuzz_part *part = which < count ? &parts[which] : &all;
        uint64_t at = part->begin + fuzz_number(input, 4) % part->size, value = fuzz_number(input, 8);
        if (which == 255)
            CHECK(ftruncate(file->fd, (off_t)at) == 0);
        else
            fuzz_write(file, at, &value, length);
    }
}

#ifdef TFD_FUZZ

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    char directory[] = "/tmp/tfdarshan-fuzz-XXXXXX";
    (void)argc, (void)argv;
    CHECK(mkdtemp(directory));
    fuzz_begin(directory);
    CHECK(rmdir(directory) == 0);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_one(data, size);
    return 0;
}

#else

static inline void fuzz_try_file(const char *directory, const char *name)
{
    char path[PATH_MAX];
    check_path(path, directory, name);
    int fd = open(path, O_RDONLY);
    struct stat status;
    CHECK(fd >= 0 && fstat(fd, &status) == 0);
    size_t size = (size_t)status.st_size;
    uint8_t *data = malloc(size + !size);
    CHECK(data && read(fd, data, size) == (ssize_t)size && close(fd) == 0);
    fuzz_one(data, size);
    free(data);
}

/* The folder for a target's own files, and that of its inputs. */
int main(int argc, char **argv)
{
    CHECK(argc == 3);
    fuzz_begin(argv[1]);
    fuzz_one((const uint8_t *)"", 0);
    DIR *inputs = opendir(argv[2]);
    CHECK(inputs);
    int tried = 0;
    for (struct dirent *entry; (entry = readdir(inputs));)
        if (entry->d_name[0] != '.') {
            fuzz_try_file(argv[2], entry->d_name);
            tried++;
        }
    closedir(inputs);
    CHECK(tried > 0);
    return 0;
}

#endif
#endif
