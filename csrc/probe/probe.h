/* One call of every hooked symbol, each with a known effect, through this module's own slots, with which
 * `tfdarshan doctor` proves the hooks. The only header that cffi reads for this extension. */

#ifndef TFD_PROBE_H
#define TFD_PROBE_H

#include <stddef.h>
#include <stdint.h>

struct tfd_probe_event { /* an event that the call must leave, in order */
    const char *operation;
    int64_t offset; /* INT64_MIN: any */
    int64_t length;
    int32_t file; /* index of the outcome's paths; -1: not known */
};

struct tfd_probe_outcome {
    int32_t ok;    /* 1: the call had its effect */
    int32_t error; /* errno after it; TFD_PROBE_ERRNO_BEFORE was set before */
    char path[3][1024];
};

enum { TFD_PROBE_ERRNO_BEFORE = 18 };

size_t tfd_probe_count(void);
const char *tfd_probe_symbol(size_t probe);
int tfd_probe_linked(size_t probe); /* 1: this C library has the symbol */
/* Fill at most `capacity` of the expected events; return how many there are. */
size_t tfd_probe_events(size_t probe, struct tfd_probe_event *events, size_t capacity);

/* `begin` makes and opens files in `directory`, which exists. `call` makes the one call. `end` checks its effect and
 * removes the files. Only `call` belongs into a session. They return 0 or -errno. */
int tfd_probe_begin(size_t probe, const char *directory);
void tfd_probe_call(size_t probe);
int tfd_probe_end(size_t probe, struct tfd_probe_outcome *outcome);

#endif
