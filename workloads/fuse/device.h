/* What a call on the storage costs, by a model given in one line of key=value words. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What a request is: each has a latency of its own. */
enum request_kind {
    REQUEST_OPEN,
    REQUEST_READ,
    REQUEST_EMPTY_READ,
    REQUEST_STAT,
    REQUEST_WRITE,
    REQUEST_SYNC
};
enum { REQUEST_KINDS = REQUEST_SYNC + 1 };

struct request {
    enum request_kind kind;
    const char *path; /* below the mount point, beginning with a slash */
    uint64_t file;    /* tells files apart */
    off_t offset;
    size_t bytes; /* that have to be moved; 0 for what moves none */
};

/* Reads the model. Says on stderr what it does not understand, and gives false. */
bool device_describe(const char *line);

/* From here on requests take their time; before, nothing does. */
void device_begin(void);

/* Blocks the thread for as long as the request takes. */
void device_pass(const struct request *request);

/* The part of a read that the server's own cache does not hold, in bytes; remembers it as held. */
size_t device_missing(uint64_t file, off_t offset, size_t bytes);

/* Whether the kernel may keep pages, and whether it may keep names and attributes. */
bool device_keeps_pages(void);
bool device_keeps_names(void);

/* Whether opens with O_DIRECT fail with EINVAL, as on file systems that know none. */
bool device_refuses_direct(void);
