/* One call of every hooked symbol, each with a known effect, through this module's own slots: what
 * `tfdarshan doctor` proves the hooks with. The only header cffi reads for this extension. */

#ifndef TFD_PROBE_H
#define TFD_PROBE_H

#include <stddef.h>
#include <stdint.h>

struct tfd_probe_event { /* that the call must leave, in order */
    const char *operation;
    int64_t offset; /* INT64_MIN: any */
    int64_t length;
    int32_t file; /* which of the outcome's paths; -1: one that cannot be known */
};

struct tfd_probe_outcome {
    int32_t ok;    /* 1: the call did what it is for */
    int32_t error; /* errno after it; TFD_PROBE_ERRNO_BEFORE was set before */
    char path[3][1024];
};

enum { TFD_PROBE_ERRNO_BEFORE = 18 };

size_t tfd_probe_count(void);
const char *tfd_probe_symbol(size_t probe);
int tfd_probe_linked(size_t probe); /* 1: this C library has the symbol, so that it can be called */
/* Fills at most `capacity` of the expected events, returns how many there are. */
size_t tfd_probe_events(size_t probe, struct tfd_probe_event *events, size_t capacity);

/* begin makes and opens files in `directory`, which exists; call makes the one call; end checks what it left
 * behind and removes the files. Only call belongs into a session. 0 or -errno. */
int tfd_probe_begin(size_t probe, const char *directory);
void tfd_probe_call(size_t probe);
int tfd_probe_end(size_t probe, struct tfd_probe_outcome *outcome);

#endif
