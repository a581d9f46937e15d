#define _GNU_SOURCE
#include "base/clock.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/kernel_io.h"

_Atomic bool tfd_clock_uses_tsc;

#if defined(__x86_64__)
static bool tsc_is_invariant(void)
{
    unsigned a, b, c, d = 0;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
}

/* The kernel falls back to hpet or acpi_pm if the TSCs of the processors are
 * out of step. Then we do not use them either. */
static bool kernel_trusts_tsc(void)
{
    static const char *const trusted[] = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page"};
    char name[64] = "";
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, name, sizeof name - 1);
    close(fd);
    tfd_kernel_io_exclude(length > 0 ? length : 0);
    name[length > 0 ? length : 0] = '\0';
    name[strcspn(name, "\n")] = '\0';
    for (size_t i = 0; i < sizeof trusted / sizeof *trusted; i++)
        if (!strcmp(name, trusted[i]))
            return true;
    return false;
}
#endif

/* Which of both it is never changes: the times of a session that records here are of one clock. */
void tfd_clock_initialize(void)
{
#if defined(__x86_64__)
    static _Atomic bool is_known;
    if (!atomic_load(&is_known))
        tfd_clock_uses_tsc = tsc_is_invariant() && kernel_trusts_tsc();
    atomic_store(&is_known, true);
#endif
}

static int64_t nanoseconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The clocks cannot be read at one instant. So this takes a few samples and
 * keeps the one with the shortest span between its two tick readings. */
struct tfd_clock_sample tfd_clock_sample_now(void)
{
    struct tfd_clock_sample best = {0};
    uint64_t best_span = UINT64_MAX;
    for (int attempt = 0; attempt < 5; attempt++) {
        struct tfd_clock_sample sample;
        uint64_t before = tfd_ticks();
        sample.monotonic_ns = nanoseconds(CLOCK_MONOTONIC);
        uint64_t after = tfd_ticks();
        sample.realtime_ns = nanoseconds(CLOCK_REALTIME);
        sample.ticks = before + (after - before) / 2;
        if (!tfd_clock_uses_tsc)
            sample.ticks = (uint64_t)sample.monotonic_ns;
        if (after - before < best_span) {
            best_span = after - before;
            best = sample;
        }
    }
    return best;
}
