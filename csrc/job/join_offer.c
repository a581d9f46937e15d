#define _GNU_SOURCE
#include "job/join_offer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/kernel_io.h"
#include "base/process_identity.h"
#include "spool/spool.h"

#define MAGIC "TFDJOIN"

static size_t add_texts(char *out, const char *const *texts, size_t count)
{
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        size_t bytes = strlen(texts[i]) + 1;
        if (out)
            memcpy(out + length, texts[i], bytes);
        length += bytes;
    }
    return length;
}

static int write_file(const char *path, const void *bytes, size_t count)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno;
    ssize_t written = write(fd, bytes, count);
    tfd_kernel_io_exclude_written(written > 0 ? written : 0);
    int error = written == (ssize_t)count ? 0 : written < 0 ? errno : ENOSPC;
    close(fd);
    return error;
}

static void fill_numbers(struct tfd_join_offer *offer, const struct tfd_options *options)
{
    memcpy(offer->magic, MAGIC, sizeof MAGIC);
    offer->version = TFD_SPOOL_VERSION;
    offer->owner_pid = (int32_t)getpid();
    offer->owner_start = tfd_process_start(offer->owner_pid);
    offer->pid_namespace = tfd_own_pid_namespace();
    offer->capacity_bytes = options->capacity_bytes;
    offer->trace_limit_bytes = options->trace_limit_bytes;
    offer->include_count = (uint32_t)options->include_count;
    offer->exclude_count = (uint32_t)options->exclude_count;
    offer->exclude_followed = (uint32_t)options->exclude_followed;
    offer->mapped = (uint32_t)options->mapped;
}

bool tfd_join_offer_core(const char *directory, char *path, size_t capacity)
{
    char link[TFD_SPOOL_PATH_MAX];
    snprintf(link, sizeof link, "%s/" TFD_JOIN_CORE_NAME, directory);
    ssize_t length = readlink(link, path, capacity - 1);
    if (length <= 0)
        return false;
    path[length] = '\0';
    bool is_there = !access(path, F_OK);
    if (strchr(path, ':'))
        snprintf(path, capacity, "%s", link);
    return is_there;
}

int tfd_join_offer_write(const struct tfd_options *options)
{
    char path[TFD_SPOOL_PATH_MAX], partial[TFD_SPOOL_PATH_MAX];
    size_t include_bytes = add_texts(NULL, options->include, options->include_count);
    size_t pattern_bytes = include_bytes + add_texts(NULL, options->exclude, options->exclude_count);
    const char *library = options->program_library ? options->program_library : "";
    size_t text_bytes = pattern_bytes + strlen(library) + 1;
    struct tfd_join_offer *offer = calloc(1, sizeof *offer + text_bytes);
    if (!offer)
        return tfd_fail(ENOMEM, "no memory for the options of processes that join");
    fill_numbers(offer, options);
    offer->text_bytes = (uint32_t)text_bytes;
    add_texts(offer->text, options->include, options->include_count);
    add_texts(offer->text + include_bytes, options->exclude, options->exclude_count);
    add_texts(offer->text + pattern_bytes, &library, 1);
    snprintf(path, sizeof path, "%s/" TFD_JOIN_OFFER_NAME, options->spool_directory);
    snprintf(partial, sizeof partial, "%s/" TFD_JOIN_OFFER_NAME ".partial", options->spool_directory);
    int error = write_file(partial, offer, sizeof *offer + text_bytes);
    if (!error && rename(partial, path))
        error = errno;
    free(offer);
    return error ? tfd_fail(error, "cannot write %s: %s", path, strerror(error)) : 0;
}

static bool is_whole(const struct tfd_join_offer *offer, size_t bytes)
{
    if (bytes < sizeof *offer || memcmp(offer->magic, MAGIC, sizeof MAGIC) ||
        offer->version != TFD_SPOOL_VERSION || offer->text_bytes != bytes - sizeof *offer)
        return false;
    uint64_t ends = 0;
    for (uint32_t i = 0; i < offer->text_bytes; i++)
        ends += !offer->text[i];
    bool ended = offer->text_bytes && !offer->text[offer->text_bytes - 1];
    return ended && ends == (uint64_t)offer->include_count + offer->exclude_count + 1;
}

/* Return 0 if the owner runs, else why it cannot be found: in another namespace its number means nothing. */
static int why_no_owner(const struct tfd_join_offer *offer)
{
    if (offer->pid_namespace != tfd_own_pid_namespace())
        return ENOENT;
    return offer->owner_start && tfd_process_start(offer->owner_pid) == offer->owner_start ? 0 : ESRCH;
}

const struct tfd_join_offer *tfd_join_offer_map(const char *directory, size_t *mapped_bytes)
{
    char path[TFD_SPOOL_PATH_MAX];
    struct stat status;
    errno = ENOENT;
    if ((size_t)snprintf(path, sizeof path, "%s/" TFD_JOIN_OFFER_NAME, directory) >= sizeof path)
        return NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return NULL;
    void *mapped = MAP_FAILED;
    if (!fstat(fd, &status) && status.st_uid == geteuid() && status.st_size > 0)
        mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (mapped == MAP_FAILED)
        return NULL;
    *mapped_bytes = (size_t)status.st_size;
    int error = is_whole(mapped, *mapped_bytes) ? why_no_owner(mapped) : ENOENT;
    if (!error)
        return mapped;
    munmap(mapped, *mapped_bytes);
    errno = error;
    return NULL;
}

const char *tfd_join_offer_patterns(const struct tfd_join_offer *offer, const char **patterns)
{
    const char *text = offer->text;
    for (uint32_t i = 0; i < offer->include_count + offer->exclude_count; i++) {
        patterns[i] = text;
        text += strlen(text) + 1;
    }
    return *text ? text : NULL;
}
