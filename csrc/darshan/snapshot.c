#define _GNU_SOURCE
#include "darshan/snapshot.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "darshan/gate.h"
#include "darshan/library.h"
#include "tfdarshan.h"

#define COPY_ATTEMPTS 100
#define ROOM_FOR_NEW 1024 /* records that calls under way may add before the lock is held */

struct copy {
    char *records;
    size_t bytes, capacity;
};

static const struct {
    unsigned module;
    size_t record_bytes;
} modules[2] = {{TFD_DARSHAN_MODULE_POSIX, TFD_DARSHAN_POSIX_RECORD},
                {TFD_DARSHAN_MODULE_STDIO, TFD_DARSHAN_STDIO_RECORD}};

static struct copy copies[2][2]; /* start, stop x POSIX, STDIO */
static uint64_t torn;

static int reserve(struct copy *copy, size_t bytes)
{
    if (bytes <= copy->capacity)
        return 0;
    char *larger = realloc(copy->records, bytes);
    if (!larger)
        return tfd_fail(ENOMEM, "no memory for a copy of Darshan's records");
    copy->records = larger;
    copy->capacity = bytes;
    return 0;
}

/* A record is copied once two reads of it agree, since a thread of a foreign
 * library may be changing it. */
static void copy_record(char *to, const char *from, size_t bytes)
{
    for (int attempt = 0; attempt < COPY_ATTEMPTS; attempt++) {
        memcpy(to, from, bytes);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        if (!memcmp(to, from, bytes))
            return;
        sched_yield();
    }
    torn++;
}

static size_t bytes_in(const struct tfd_darshan_core *core, unsigned module)
{
    const struct tfd_darshan_buffer *buffer = core->modules[module];
    return buffer ? (size_t)(buffer->end - buffer->start) : 0;
}

static void copy_module(const struct tfd_darshan_core *core, int index, struct copy *copy)
{
    size_t record_bytes = modules[index].record_bytes, bytes = bytes_in(core, modules[index].module);
    copy->bytes = bytes < copy->capacity ? bytes : copy->capacity;
    for (size_t at = 0; at + record_bytes <= copy->bytes; at += record_bytes)
        copy_record(copy->records + at, core->modules[modules[index].module]->start + at, record_bytes);
}

/* Copy both modules at one moment. Memory is allocated before the locks, so records that are added meanwhile may not be
 * copied. */
static void copy_modules(const struct tfd_darshan_core *core, struct copy *both, int at_stop)
{
    bool foreign = tfd_darshan_is_foreign();
    tfd_gate_lock();
    if (foreign)
        tfd_darshan_core_lock();
    for (int i = 0; i < 2; i++)
        copy_module(core, i, &both[i]);
    if (at_stop)
        tfd_darshan_copied = tfd_ticks();
    if (foreign)
        tfd_darshan_core_unlock();
    tfd_gate_unlock();
}

int tfd_darshan_snapshot(int at_stop)
{
    const struct tfd_darshan_core *core = tfd_darshan_core();
    if (!core)
        return tfd_fail(EINVAL, "no libdarshan counts in this process");
    torn = at_stop ? torn : 0;
    for (int i = 0; i < 2; i++) {
        int status = tfd_darshan_check_records(modules[i].module, modules[i].record_bytes);
        if (!status)
            status = reserve(&copies[at_stop][i],
                             bytes_in(core, modules[i].module) + ROOM_FOR_NEW * modules[i].record_bytes);
        if (status)
            return status;
    }
    copy_modules(core, copies[at_stop], at_stop);
    return 0;
}

const void *tfd_darshan_records(int at_stop, int module, uint64_t *count)
{
    const struct copy *copy = &copies[!!at_stop][!!module];
    *count = copy->bytes / modules[!!module].record_bytes;
    return copy->records;
}

uint64_t tfd_darshan_torn_records(void)
{
    return torn;
}

void tfd_darshan_release_snapshots(void)
{
    for (int at_stop = 0; at_stop < 2; at_stop++)
        for (int i = 0; i < 2; i++) {
            free(copies[at_stop][i].records);
            copies[at_stop][i] = (struct copy){0};
        }
}
