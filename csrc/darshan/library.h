/* Finds, loads, initialises and checks the libdarshan of this process. */
#ifndef TFD_DARSHAN_LIBRARY_H
#define TFD_DARSHAN_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tfdarshan.h"

/* Sizes of its records, in bytes: those of POSIX version 4 and STDIO version 2. */
#define TFD_DARSHAN_POSIX_RECORD 704u
#define TFD_DARSHAN_STDIO_RECORD 248u

/* Fields of struct darshan_core_runtime, at their places in log version 3.41. */
struct tfd_darshan_core {
    const char *header, *job, *exe_and_mounts;
    char *names;
    char *records;
    struct tfd_darshan_buffer *modules[16];
};

/* The beginning of a registered module. Functions follow, whose number depends on the build. */
struct tfd_darshan_buffer {
    char *start, *end;
    size_t available; /* bytes left for records */
};

enum { TFD_DARSHAN_MODULE_POSIX = 1, TFD_DARSHAN_MODULE_STDIO = 9 };

/* Return Darshan's core, NULL if there is none or it does not count in this process (a child of fork, switched off). */
const struct tfd_darshan_core *tfd_darshan_core(void);
/* Return true if the program, not tfdarshan, loaded the library. Its records are then only read. */
bool tfd_darshan_is_foreign(void);
/* Take Darshan's lock of its tables. Records of a foreign library may still change. */
void tfd_darshan_core_lock(void);
void tfd_darshan_core_unlock(void);
/* Return 0, or -errno with tfd_last_error() if the records in memory are not as expected. */
int tfd_darshan_check_records(unsigned module, size_t record_bytes);
/* These do the work of tfd_darshan_load() and tfd_darshan_adopt(), after attach.c has prepared the process. */
int tfd_darshan_library_load(const struct tfd_darshan_options *options);
int tfd_darshan_library_adopt(void);
void tfd_darshan_library_reset_in_child(void);

#endif
