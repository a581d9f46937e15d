/* The files of a probe's call, made again for each call. */
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

#include "hooks/function_types.h"
#include "probe/probe.h"

/* Content of both files that exist: this line, then zeros up to their size. */
#define TFD_PROBE_LINE "12345 apples\n"
#define TFD_PROBE_LINE_BYTES 13
#define TFD_PROBE_FILE_BYTES 5000
#define TFD_PROBE_TRANSFER_BYTES 100
#define TFD_PROBE_MODE 0640

struct probe_files {
    char path[3][1024]; /* two that exist, one that does not */
    char template[1024];
    char directory[1024];
    int fd[2]; /* of the first two, at their beginnings; -1: the call has closed it */
    int pipe[2];
    FILE *stream; /* of the first; NULL: the call has closed it */
    DIR *folder;
    FILE *child; /* of popen */
    char buffer[TFD_PROBE_FILE_BYTES];
    struct iovec vector;
    struct stat status;
    struct stat64 status64;
    fpos_t position;
    char *line;
    size_t line_capacity;
    int high_fd; /* the highest possible number; -1: none */
    int made_fd; /* made by the call, closed at the end; -1: none */
    FILE *made_stream;
    void *mapping;
};

/* Each hooked symbol under another name (call_read for read), because the compiler would replace calls that it knows,
 * such as printf. NULL if this C library does not have the symbol. */
#define X(symbol, ...) tfd_##symbol##_function call_##symbol __asm__(#symbol) __attribute__((weak));
TFD_HOOKS(X)
#undef X

#define TFD_PROBE_ANY INT64_MIN

/* A row of a table. */
struct probe {
    const char *symbol;
    void *function; /* NULL: not in this C library */
    bool (*call)(struct probe_files *files);
    struct tfd_probe_event events[2];
};

/* Take a descriptor that the call closes, so that the end does not close it. */
static inline int tfd_probe_take(int *fd)
{
    int taken = *fd;
    *fd = -1;
    return taken;
}

/* Each table ends with a row without a symbol. */
extern const struct probe tfd_open_probes[], tfd_transfer_probes[], tfd_path_probes[], tfd_process_probes[],
    tfd_stream_probes[], tfd_stream_read_probes[], tfd_stream_write_probes[], tfd_standard_probes[],
    tfd_wide_probes[], tfd_aio_probes[];

#endif
