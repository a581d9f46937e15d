#define _GNU_SOURCE
#include "base/futex.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

void tfd_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t for_ns)
{
    struct timespec timeout = {for_ns / 1000000000, for_ns % 1000000000};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &timeout, NULL, 0);
}

void tfd_futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

bool tfd_futex_wait_while(_Atomic uint32_t *word, uint32_t value, int64_t for_ns)
{
    int64_t deadline_ns = tfd_clock_ns(CLOCK_MONOTONIC) + for_ns;
    for (int64_t left_ns = for_ns; atomic_load(word) == value;
         left_ns = deadline_ns - tfd_clock_ns(CLOCK_MONOTONIC)) {
        if (left_ns <= 0)
            return false;
        tfd_futex_wait(word, value, left_ns);
    }
    return true;
}
