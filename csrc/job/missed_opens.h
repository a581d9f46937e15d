/* Opens that were not recorded because their threads had waited long enough for another thread to join a session. */
#ifndef TFD_MISSED_OPENS_H
#define TFD_MISSED_OPENS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/kernel_io.h"

/* Missed opens since the last session; zeros mean none. */
struct tfd_missed_opens {
    _Atomic uint64_t count;
    _Atomic uint32_t look;       /* state of the one read of `before` */
    struct tfd_kernel_io before; /* the kernel's figures before the first missed open */
};

/* Call this before an open that is not recorded. */
void tfd_missed_opens_add(void);
/* Return how many opens were missed, and forget them. If some were, `begin` becomes the kernel's figures before the
 * first one, so that the session shows what it missed as the difference to the kernel's figures. */
uint64_t tfd_missed_opens_take(struct tfd_kernel_io *begin);
void tfd_missed_opens_forget(void);

/* Return where missed opens are counted, and have another library of ours count there too. */
struct tfd_missed_opens *tfd_missed_opens(void);
void tfd_missed_opens_count_in(struct tfd_missed_opens *there);

#endif
