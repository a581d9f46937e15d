#define _GNU_SOURCE
#include "job/missed_opens.h"

#include <time.h>

#define LOOK_WAIT_MS 50

enum { NOBODY, LOOKS, HAS_LOOKED };

static struct tfd_missed_opens here;
static struct tfd_missed_opens *_Atomic counted = &here;

void tfd_missed_opens_add(void)
{
    struct tfd_missed_opens *missed = atomic_load(&counted);
    uint32_t look = NOBODY;
    if (atomic_compare_exchange_strong(&missed->look, &look, LOOKS)) {
        missed->before = tfd_kernel_io_now();
        atomic_store(&missed->look, HAS_LOOKED);
    }
    for (int slept_ms = 0; atomic_load(&missed->look) == LOOKS && slept_ms < LOOK_WAIT_MS; slept_ms++)
        nanosleep(&(struct timespec){0, 1000000}, NULL); /* that thread's figures come first */
    atomic_fetch_add(&missed->count, 1);
}

uint64_t tfd_missed_opens_take(struct tfd_kernel_io *begin)
{
    struct tfd_missed_opens *missed = atomic_load(&counted);
    if (atomic_load(&missed->look) == HAS_LOOKED) {
        if (missed->before.valid && missed->before.rchar <= begin->rchar)
            *begin = missed->before;
        atomic_store(&missed->look, NOBODY);
    }
    return atomic_exchange(&missed->count, 0);
}

void tfd_missed_opens_forget(void)
{
    struct tfd_missed_opens *missed = atomic_load(&counted);
    atomic_store(&missed->look, NOBODY);
    atomic_store(&missed->count, 0);
}

struct tfd_missed_opens *tfd_missed_opens(void)
{
    return atomic_load(&counted);
}

void tfd_missed_opens_count_in(struct tfd_missed_opens *there)
{
    atomic_store(&counted, there);
}
