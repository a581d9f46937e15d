/* Opens of threads that went on unrecorded, for they had waited long enough for another to join a session. */
#ifndef TFD_MISSED_OPENS_H
#define TFD_MISSED_OPENS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/kernel_io.h"

/* Since the last session. Zeros are none. */
struct tfd_missed_opens {
    _Atomic uint64_t count;
    _Atomic uint32_t look;       /* of the one thread that asks the kernel: what it found is there */
    struct tfd_kernel_io before; /* the first of them */
};

/* One is about to be made. */
void tfd_missed_opens_add(void);
/* How many there were, and forgets them. Where the kernel was asked before `begin` was, that moves `begin`: what was
 * missed since is then what the session has less than the kernel. */
uint64_t tfd_missed_opens_take(struct tfd_kernel_io *begin);
void tfd_missed_opens_forget(void);

/* Where they are counted, and has another library of ours count them there, too. */
struct tfd_missed_opens *tfd_missed_opens(void);
void tfd_missed_opens_count_in(struct tfd_missed_opens *there);

#endif
