/* The libdarshan of this process: found, loaded, initialised, checked. */
#ifndef TFD_DARSHAN_LIBRARY_H
#define TFD_DARSHAN_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tfdarshan.h"

/* Sizes of its records, in bytes: those of POSIX version 4 and STDIO version 2. */
#define TFD_DARSHAN_POSIX_RECORD 704u
#define TFD_DARSHAN_STDIO_RECORD 248u

/* The fields of struct darshan_core_runtime whose place is known in log version 3.41. */
struct tfd_darshan_core {
    const char *header, *job, *exe_and_mounts;
    char *names;
    char *records;
    struct tfd_darshan_buffer *modules[16];
};

/* What a registered module begins with. Behind it come functions, whose number depends on the build. */
struct tfd_darshan_buffer {
    char *start, *end;
    size_t available; /* bytes for more records */
};

enum { TFD_DARSHAN_MODULE_POSIX = 1, TFD_DARSHAN_MODULE_STDIO = 9 };

/* NULL: none, or it does not count in this process (a child of fork, switched off). */
const struct tfd_darshan_core *tfd_darshan_core(void);
/* True where somebody else loaded it: then it is only read. */
bool tfd_darshan_is_foreign(void);
/* Darshan's lock around its tables; records of a foreign library may change all the same. */
void tfd_darshan_core_lock(void);
void tfd_darshan_core_unlock(void);
/* 0, or why the records in memory cannot be what they should be. */
int tfd_darshan_check_records(unsigned module, size_t record_bytes);
/* What tfd_darshan_load and tfd_darshan_adopt do once the process is prepared, which attach.c sees to. */
int tfd_darshan_library_load(const struct tfd_darshan_options *options);
int tfd_darshan_library_adopt(void);
void tfd_darshan_library_reset_in_child(void);

#endif
