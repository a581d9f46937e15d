#define _GNU_SOURCE
#include "hooks/trigger.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hooks/definitions.h"
#include "hooks/elf_image.h"
#include "hooks/hook_index.h"
#include "hooks/libc_functions.h"
#include "hooks/page_protection.h"

#define MAX_SLOTS 32

struct trigger_slot {
    void **address;
    void *found; /* in it, when it was looked at */
    unsigned hook;
    int protection;
};

static struct trigger_slot slots[MAX_SLOTS];
static unsigned slot_count;

static const _Atomic uint32_t never_changes;
static const _Atomic uint32_t *watched = &never_changes;
static _Atomic uint32_t seen;
static void (*tell)(void);
static _Atomic int32_t armed_pid; /* a child of vfork has this memory and another number */
static void *definition[TFD_HOOK_COUNT];
static _Atomic(void *) target[TFD_HOOK_COUNT];

/* Not getpid(): old C libraries remember it, also across a vfork. */
static int32_t own_pid(void)
{
    return (int32_t)syscall(SYS_getpid);
}

static __attribute__((noinline)) void tell_in_own_process(void)
{
    int saved_errno = errno;
    if (atomic_load(&armed_pid) == own_pid())
        tell();
    errno = saved_errno;
}

static inline void look(void)
{
    if (__builtin_expect(atomic_load_explicit(watched, memory_order_relaxed) !=
                             atomic_load_explicit(&seen, memory_order_relaxed),
                         0))
        tell_in_own_process();
}

#define NEXT(symbol)                                                                                         \
    ((tfd_##symbol##_function *)atomic_load_explicit(&target[TFD_HOOK_##symbol], memory_order_acquire))

/* By the column `emulated` of the hook table. The mode that an open may leave out is passed on as it was found. */
#define KIND(symbol, operation, emulated, darshan, ...) KIND_##emulated(symbol, __VA_ARGS__)
#define KIND_NO(...)
#define KIND_OWN(...)
#define KIND_OPEN(...) OPENS(__VA_ARGS__)
#define KIND_STREAM_OPEN(...)
#define KIND_READ(...) READS(__VA_ARGS__)
#define KIND_READ_AT(...)
#define KIND_WRITE(...)
#define KIND_WRITE_AT(...)
#define KIND_STREAM_READ(...)
#define KIND_STREAM_WRITE(...)
#define KIND_PATH(...)
#define KIND_PATH_AT(...)
#define KIND_SYNC(...)

#define OPENS(symbol, result, parameters, arguments)                                                         \
    static result trigger_##symbol parameters                                                                \
    {                                                                                                        \
        look();                                                                                              \
        return NEXT(symbol) arguments;                                                                       \
    }
#define READS(symbol, result, parameters, arguments)                                                         \
    static result trigger_##symbol parameters                                                                \
    {                                                                                                        \
        result done = NEXT(symbol) arguments;                                                                \
        look();                                                                                              \
        return done;                                                                                         \
    }
TFD_HOOKS(KIND)
#undef OPENS
#undef READS

#define OPENS(symbol, ...) [TFD_HOOK_##symbol] = (void *)trigger_##symbol,
#define READS(symbol, ...) [TFD_HOOK_##symbol] = (void *)trigger_##symbol,
static void *const trigger_of[TFD_HOOK_COUNT] = {TFD_HOOKS(KIND)};
#undef OPENS
#undef READS

bool tfd_is_trigger(const void *value, unsigned hook)
{
    return value && value == trigger_of[hook];
}

static bool is_inside(const struct tfd_image *image, const void *value)
{
    return (uintptr_t)value >= image->start && (uintptr_t)value < image->end;
}

/* The function that the slot stands for. A program that is not position independent may have made its own stub stand
 * for it, which comes back to the slot: then none. */
static void *definition_for(const struct tfd_image *image, unsigned hook)
{
    if (!definition[hook])
        definition[hook] = dlsym(RTLD_DEFAULT, tfd_hooks[hook].symbol);
    return definition[hook] && !is_inside(image, definition[hook]) ? definition[hook] : NULL;
}

static bool is_known(const void *value, unsigned hook)
{
    return value == definition[hook] || (tfd_wrapper && tfd_is_definition(value, hook));
}

static void collect(void *context, const struct tfd_image *image, const struct tfd_slot_place *place)
{
    (void)context;
    int hook = tfd_hook_by_name(place->symbol);
    if (hook < 0 || !trigger_of[hook] || slot_count == MAX_SLOTS || !definition_for(image, (unsigned)hook) ||
        (uintptr_t)place->address % sizeof(void *))
        return;
    void *value = __atomic_load_n(place->address, __ATOMIC_ACQUIRE);
    if (value && (is_inside(image, value) || is_known(value, (unsigned)hook)))
        slots[slot_count++] = (struct trigger_slot){place->address, value, (unsigned)hook, 0};
}

static int find_image(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct tfd_image *image = context;
    const void *address = image->dynamic;
    struct tfd_image candidate;
    if (!tfd_image_read(info, &candidate) || !is_inside(&candidate, address))
        return 0;
    *image = candidate;
    return 1;
}

/* Pages that cannot be written, or hold code, are left alone. */
static void keep_writable(void)
{
    struct tfd_protection_map map;
    unsigned kept = 0;
    if (tfd_protection_map_read(&map)) {
        slot_count = 0;
        return;
    }
    for (unsigned i = 0; i < slot_count; i++) {
        uintptr_t end;
        slots[i].protection = tfd_protection_at(&map, (uintptr_t)slots[i].address, &end);
        if (slots[i].protection >= 0 && !(slots[i].protection & PROT_EXEC))
            slots[kept++] = slots[i];
    }
    slot_count = kept;
    tfd_protection_map_free(&map);
}

static void aim(void)
{
    for (unsigned hook = 0; hook < TFD_HOOK_COUNT; hook++)
        atomic_store(&target[hook], tfd_wrapper ? tfd_wrapper[hook] : definition[hook]);
}

/* Its symbols are resolved after the look at the list, whose lock dlsym may take. */
void tfd_trigger_prepare(const void *address, void (*notice)(void))
{
    struct tfd_image image = {.dynamic = address};
    tell = notice;
    slot_count = 0;
    tfd_hook_index_build();
    if (dl_iterate_phdr(find_image, &image) && !(tfd_wrapper && !tfd_may_patch(&image)))
        tfd_image_visit_slots(&image, collect, NULL);
    keep_writable();
    aim();
}

void tfd_trigger_watch(const _Atomic uint32_t *counter)
{
    watched = counter;
}

void tfd_trigger_set_seen(uint32_t value)
{
    atomic_store(&seen, value);
}

/* A slot that somebody else patched since is left to them. */
static bool may_take(const struct trigger_slot *slot)
{
    const void *held = __atomic_load_n(slot->address, __ATOMIC_ACQUIRE);
    return held != trigger_of[slot->hook] && (held == slot->found || is_known(held, slot->hook));
}

static void arm_slot(const struct trigger_slot *slot)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *start = (void *)((uintptr_t)slot->address & ~(page - 1));
    bool locked = !(slot->protection & PROT_WRITE);
    if (locked && mprotect(start, page, PROT_READ | PROT_WRITE))
        return;
    __atomic_store_n(slot->address, trigger_of[slot->hook], __ATOMIC_RELEASE);
    if (locked)
        mprotect(start, page, slot->protection);
}

void tfd_trigger_arm(void)
{
    atomic_store(&armed_pid, slot_count ? own_pid() : 0);
    aim();
    for (unsigned i = 0; i < slot_count; i++)
        if (may_take(&slots[i]))
            arm_slot(&slots[i]);
}

void tfd_trigger_use_wrappers(void)
{
    aim();
}
