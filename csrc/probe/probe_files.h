/* What a probe's call works on; made anew for each. */
#ifndef TFD_PROBE_FILES_H
#define TFD_PROBE_FILES_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "hooks/libc_functions.h"
#include "probe/probe.h"

/* Both files that exist hold this line, then zeros up to their size. */
#define TFD_PROBE_LINE "12345 apples\n"
#define TFD_PROBE_LINE_BYTES 13
#define TFD_PROBE_FILE_BYTES 5000
#define TFD_PROBE_TRANSFER_BYTES 100
#define TFD_PROBE_MODE 0640

struct probe_files {
    char path[3][1024]; /* two that exist, one that does not */
    char template[1024];
    char directory[1024];
    int fd[2]; /* on the first two, at their beginnings; -1 where the call closed it */
    int pipe[2];
    FILE *stream; /* on the first; NULL where the call closed it */
    DIR *folder;
    FILE *child; /* of popen */
    char buffer[TFD_PROBE_FILE_BYTES];
    struct iovec vector;
    struct stat status;
    struct stat64 status64;
    fpos_t position;
    char *line;
    size_t line_capacity;
    int high_fd; /* the highest number there may be; -1 none */
    int made_fd; /* by the call: closed at the end; -1 none */
    FILE *made_stream;
    void *mapping;
};

/* Each hooked symbol under another name, call_read for read, because the compiler knows what printf and its like
 * do and would put other calls in their place; NULL where this C library does not have it. */
#define X(symbol, ...) tfd_##symbol##_function call_##symbol __asm__(#symbol) __attribute__((weak));
TFD_HOOKS(X)
#undef X

#define TFD_PROBE_ANY INT64_MIN

/* One row of a table. */
struct probe {
    const char *symbol;
    void *function; /* NULL: not in this C library */
    bool (*call)(struct probe_files *files);
    struct tfd_probe_event events[2];
};

/* What the call closes, the end must not. */
static inline int tfd_probe_take(int *fd)
{
    int taken = *fd;
    *fd = -1;
    return taken;
}

/* Each ends with a row without symbol. */
extern const struct probe tfd_open_probes[], tfd_transfer_probes[], tfd_path_probes[], tfd_process_probes[],
    tfd_stream_probes[], tfd_stream_read_probes[], tfd_stream_write_probes[], tfd_standard_probes[],
    tfd_wide_probes[], tfd_aio_probes[];

#endif
