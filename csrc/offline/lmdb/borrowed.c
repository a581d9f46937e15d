#define _GNU_SOURCE
#include "offline/lmdb/borrowed.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "offline/lmdb/failure.h"
#include "offline/lmdb/record_check.h"
#include "offline/lmdb/turn.h"
#include "offline/lmdb/values.h"
#include "offline/lmdb/windows.h"

enum { SLOTS = 256, WINDOWS_AHEAD = 2, SAFE_COMMITS = 1, SENTENCE_BYTES = 160 };

/* One lent file. `users` counts calls under way and the slot itself; 0: the slot is free. */
struct slot {
    atomic_uint users;
    _Atomic uint64_t number; /* 0: taken back */
    struct tfd_lmdb *file;
    char *path;
    pid_t process;
    bool held;
    atomic_int threads, cached, turns;
    _Atomic uint64_t window;
    struct tfd_lmdb_windows windows; /* windows that are read into the page cache */
};

static struct slot slots[SLOTS];
static _Atomic uint64_t lent_so_far;

static void leave(struct slot *slot)
{
    if (atomic_fetch_sub(&slot->users, 1) > 2)
        return;
    /* 2: the slot itself and the thread that ends it. Another call has left it meanwhile. */
    unsigned last = 1;
    if (!atomic_load(&slot->number) && atomic_compare_exchange_strong(&slot->users, &last, UINT32_MAX)) {
        tfd_lmdb_close(slot->file);
        free(slot->path);
        atomic_store(&slot->users, 0);
    }
}

/* Return the slot of a number, which is not freed before leave(); NULL if the file was taken back. */
static struct slot *enter(uint64_t number)
{
    struct slot *slot = &slots[number % SLOTS];
    unsigned users = atomic_load(&slot->users);
    do {
        if (!users || users == UINT32_MAX)
            return NULL;
    } while (!atomic_compare_exchange_weak(&slot->users, &users, users + 1));
    if (number && atomic_load(&slot->number) == number)
        return slot;
    leave(slot);
    return NULL;
}

static void fill(struct slot *slot, struct tfd_lmdb *file, char *path, bool held)
{
    atomic_fetch_add(&file->users, 1);
    slot->file = file;
    slot->path = path;
    slot->process = getpid();
    slot->held = held;
    tfd_lmdb_windows_begin(&slot->windows);
    atomic_store(&slot->threads, 1);
    atomic_store(&slot->cached, 0);
    atomic_store(&slot->turns, 0);
    atomic_store(&slot->window, 0);
}

uint64_t tfd_lmdb_lend(struct tfd_lmdb *file, const char *path, int held)
{
    char *copied = strdup(path);
    for (int tries = 0; copied && tries < SLOTS; tries++) {
        uint64_t number = atomic_fetch_add(&lent_so_far, 1) + 1;
        struct slot *slot = &slots[number % SLOTS];
        unsigned none = 0;
        /* No call enters a slot with this many users. */
        if (!atomic_compare_exchange_strong(&slot->users, &none, UINT32_MAX))
            continue;
        fill(slot, file, copied, held);
        atomic_store(&slot->number, number);
        atomic_store(&slot->users, 1);
        return number;
    }
    free(copied);
    return 0;
}

void tfd_lmdb_set_reading(uint64_t lent, int threads, int cached, int turns, uint64_t window)
{
    struct slot *slot = enter(lent);
    if (!slot)
        return;
    atomic_store(&slot->threads, threads);
    atomic_store(&slot->cached, cached);
    atomic_store(&slot->turns, turns);
    atomic_store(&slot->window, window);
    leave(slot);
}

void tfd_lmdb_take_back(uint64_t lent)
{
    struct slot *slot = enter(lent);
    if (!slot)
        return;
    atomic_store(&slot->number, 0);
    leave(slot);
}

static struct slot *enter_or_fail(const struct tfd_lmdb_part *part, struct tfd_lmdb_error *error)
{
    struct slot *slot = enter(part->lent);
    if (!slot)
        tfd_lmdb_fail(error, TFD_LMDB_MISSING, "the index of this data set is closed");
    else if (slot->process != getpid()) {
        leave(slot);
        slot = NULL;
        tfd_lmdb_fail(error, TFD_LMDB_MISSING,
                      "this data set was made in another process: make it in this one");
    }
    return slot;
}

/* Put the file's name before the sentence. */
static void name(const struct slot *slot, struct tfd_lmdb_error *error)
{
    char text[sizeof error->text];
    memcpy(text, error->text, sizeof text);
    size_t length = strlen(slot->path), room = sizeof text - SENTENCE_BYTES;
    const char *shown = length < room ? slot->path : slot->path + length - room;
    snprintf(error->text, sizeof error->text, "%s %.*s", shown, SENTENCE_BYTES, text);
}

static int64_t sizes_of(const struct tfd_lmdb_part *part, uint64_t *sizes, struct tfd_lmdb_error *error)
{
    struct slot *slot = enter_or_fail(part, error);
    if (!slot)
        return -1;
    int64_t total = 0;
    for (size_t i = 0; i < part->count && total >= 0; i++) {
        uint64_t number = (uint64_t)part->numbers[part->first + i];
        if (tfd_lmdb_check_number(slot->file, number, error)) {
            name(slot, error);
            total = -1;
        } else {
            sizes[i] = slot->file->found.records[number].size;
            total += (int64_t)sizes[i];
        }
    }
    leave(slot);
    return total;
}

/* A window that its own thread reads ahead. The numbers are a copy, since an op's numbers are freed after its call. */
struct ahead {
    struct slot *slot;
    uint64_t key;
    uint64_t count;
    uint64_t numbers[];
};

static int warm(struct slot *slot, const uint64_t *numbers, uint64_t count, struct tfd_lmdb_error *error)
{
    bool turns = atomic_load(&slot->turns);
    int turn = turns ? tfd_lmdb_begin_turn(slot->path) : -1;
    int result = tfd_lmdb_warm(slot->file, numbers, count, atomic_load(&slot->threads), error);
    tfd_lmdb_end_turn(turn);
    return result;
}

static void *read_ahead(void *argument)
{
    struct ahead *ahead = argument;
    struct tfd_lmdb_error error; /* not reported: the call that needs the window reads it again */
    int result = warm(ahead->slot, ahead->numbers, ahead->count, &error);
    tfd_lmdb_windows_end(&ahead->slot->windows, ahead->key, !result);
    leave(ahead->slot);
    free(ahead);
    return NULL;
}

/* Start the thread with signals blocked, so that it gets none of the host's. */
static int start_thread(struct ahead *ahead)
{
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&thread, NULL, read_ahead, ahead);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!failed)
        pthread_detach(thread);
    return failed;
}

/* Read a window in the background, unless it is being read or was. The caller has entered the slot. */
static void start_ahead(struct slot *slot, uint64_t key, const uint64_t *numbers, uint64_t count)
{
    if (!tfd_lmdb_windows_take(&slot->windows, key, false))
        return;
    struct ahead *ahead = malloc(sizeof *ahead + count * sizeof *numbers);
    if (ahead) {
        *ahead = (struct ahead){.slot = slot, .key = key, .count = count};
        memcpy(ahead->numbers, numbers, count * sizeof *numbers);
        atomic_fetch_add(&slot->users, 1);
        if (!start_thread(ahead))
            return;
        atomic_fetch_sub(&slot->users, 1);
        free(ahead);
    }
    tfd_lmdb_windows_end(&slot->windows, key, false);
}

static uint64_t least(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

/* Read the window that the part begins in into the page cache, once, and begin with the next windows. TensorFlow has as
 * many threads as processors: if all of them wait for one window, none can ask for the next. */
static int warm_once(struct slot *slot, const struct tfd_lmdb_part *part, uint64_t window,
                     struct tfd_lmdb_error *error)
{
    uint64_t first = part->first / window * window, left = part->total - first;
    uint64_t key = (part->span + 1) << 32 | (part->first / window + 1);
    const uint64_t *numbers = (const uint64_t *)part->numbers + first;
    /* A device with queue depth 1, or whose readers take turns, gets one reader. */
    uint64_t ahead = atomic_load(&slot->threads) > 1 ? WINDOWS_AHEAD : 0;
    for (uint64_t i = 1; i <= ahead && i * window < left; i++)
        start_ahead(slot, key + i, numbers + i * window, least(left - i * window, window));
    if (!tfd_lmdb_windows_take(&slot->windows, key, true))
        return 0;
    int result = warm(slot, numbers, least(left, window), error);
    tfd_lmdb_windows_end(&slot->windows, key, !result);
    return result;
}

static int read_now(struct slot *slot, const struct tfd_lmdb_part *part, char *const *to, bool cached,
                    struct tfd_lmdb_error *error)
{
    bool turns = !cached && atomic_load(&slot->turns);
    int turn = turns ? tfd_lmdb_begin_turn(slot->path) : -1;
    int result = tfd_lmdb_read_to(slot->file, (const uint64_t *)part->numbers + part->first, to, part->count,
                                  cached ? 1 : atomic_load(&slot->threads), cached, error);
    tfd_lmdb_end_turn(turn);
    return result;
}

/* Fail if a writer may have changed what was read. That is also the likelier cause of damage. */
static int check_snapshot(const struct slot *slot, int result, struct tfd_lmdb_error *error)
{
    struct tfd_lmdb_error other;
    uint64_t newest;
    if (slot->held || (result && error->kind != TFD_LMDB_DAMAGED) ||
        tfd_lmdb_newest(slot->file, &newest, &other) || newest <= slot->file->transaction + SAFE_COMMITS)
        return result;
    return tfd_lmdb_fail(error, TFD_LMDB_DAMAGED,
                         "was written to while it was read: transaction %" PRIu64
                         " is in it, and what was read is "
                         "of %" PRIu64 ". Open the index again",
                         newest, slot->file->transaction);
}

static int read_part(const struct tfd_lmdb_part *part, char *const *to, struct tfd_lmdb_error *error)
{
    struct slot *slot = enter_or_fail(part, error);
    if (!slot)
        return -1;
    uint64_t window = atomic_load(&slot->window);
    bool warms = window > part->count && slot->file->direct_fd < 0,
         cached = atomic_load(&slot->cached) || warms;
    int result = warms ? warm_once(slot, part, window, error) : 0;
    if (!result)
        result = read_now(slot, part, to, cached, error);
    result = check_snapshot(slot, result, error);
    if (result)
        name(slot, error);
    leave(slot);
    return result;
}

const void *tfd_lmdb_borrowed_functions(void)
{
    static const struct tfd_lmdb_borrowed_calls calls = {TFD_LMDB_BORROWED_VERSION, sizes_of, read_part};
    return &calls;
}
