#define _GNU_SOURCE
#include "hooks/late_attach.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "hooks/dlsym_stub.h"
#include "hooks/function_types.h"
#include "hooks/protected_range.h"
#include "hooks/reading_library.h"

#define MAX_SLOTS 32
#define HOLD_WAIT_MS 1000

struct late_attach_slot {
    void **address;
    void *found; /* the slot's value before it was patched */
    unsigned kind;
    int protection;
};

static struct late_attach_slot slots[MAX_SLOTS];
static _Atomic unsigned slot_count; /* grows as libraries are loaded, while other threads read the slots */
static unsigned found_count;        /* slot_count and those that are still checked */

static const _Atomic uint32_t never_changes;
static const _Atomic uint32_t *watched = &never_changes;
static _Atomic uint32_t seen;
static void (*tell)(bool opens);
static _Atomic int32_t armed_pid; /* a child of vfork shares this memory but has another number */
static struct tfd_late_attach_wrappers ours;
static void *(*found_before)(void **slot); /* tfd_late_attach_found of the library that this one replaces */

/* Old C libraries cache getpid(2), across a vfork too. */
static int32_t own_pid(void)
{
    return (int32_t)syscall(SYS_getpid);
}

static __attribute__((noinline)) void tell_in_own_process(bool opens)
{
    int saved_errno = errno;
    if (atomic_load(&armed_pid) == own_pid())
        tell(opens);
    errno = saved_errno;
}

static inline void look(bool opens)
{
    if (__builtin_expect(atomic_load_explicit(watched, memory_order_relaxed) !=
                             atomic_load_explicit(&seen, memory_order_relaxed),
                         0))
        tell_in_own_process(opens);
}

/* Rows of the hook table by their column `emulated`. If the caller of an open leaves out the mode, whatever is in its
 * place is passed on. */
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

#define OPENS(symbol, ...) KIND_OF_##symbol,
#define READS OPENS
enum { TFD_HOOKS(KIND) KIND_OF_dlsym, KINDS };
#undef OPENS

static void *definition[KINDS];
static _Atomic(void *) target[KINDS];

/* Arrays instead of pointers, which the loader would have to relocate. */
#define OPENS(symbol, ...) #symbol,
static const char name_of[KINDS][16] = {TFD_HOOKS(KIND) "dlsym"};
#undef OPENS

#define OPENS(symbol, ...) TFD_HOOK_##symbol,
static const unsigned short hook_of[KINDS] = {TFD_HOOKS(KIND) TFD_HOOK_dlsym};
#undef OPENS
#undef READS

#define OPENS(...) true,
#define READS(...) false,
static const bool is_open[KINDS] = {TFD_HOOKS(KIND) false};
#undef OPENS
#undef READS

#define NEXT(symbol)                                                                                         \
    ((tfd_##symbol##_function *)atomic_load_explicit(&target[KIND_OF_##symbol], memory_order_acquire))

#define OPENS(symbol, result, parameters, arguments)                                                         \
    static result late_attach_##symbol parameters                                                            \
    {                                                                                                        \
        look(true);                                                                                          \
        return NEXT(symbol) arguments;                                                                       \
    }
#define READS(symbol, result, parameters, arguments)                                                         \
    static result late_attach_##symbol parameters                                                            \
    {                                                                                                        \
        result done = NEXT(symbol) arguments;                                                                \
        look(false);                                                                                         \
        return done;                                                                                         \
    }
TFD_HOOKS(KIND)
#undef OPENS
#undef READS

static void take_new_libraries(void);

/* This runs when the interpreter has loaded a library (an import does) and is about to use it. */
__attribute__((used)) static void before_dlsym(void)
{
    int saved_errno = errno;
    if (atomic_load(&armed_pid) == own_pid())
        take_new_libraries();
    errno = saved_errno;
}

__attribute__((used)) static void *next_dlsym(void)
{
    return atomic_load_explicit(&target[KIND_OF_dlsym], memory_order_acquire);
}

tfd_dlsym_function tfd_late_attach_dlsym;
TFD_DLSYM_STUB(tfd_late_attach_dlsym, before_dlsym, next_dlsym);

#define OPENS(symbol, ...) (void *)late_attach_##symbol,
#define READS OPENS
static void *const late_attach_of[KINDS] = {TFD_HOOKS(KIND)(void *) tfd_late_attach_dlsym};
#undef OPENS
#undef READS

bool tfd_is_late_attach(const void *value, unsigned hook)
{
    for (unsigned kind = 0; kind < KINDS; kind++)
        if (hook_of[kind] == hook)
            return value == late_attach_of[kind];
    return false;
}

static unsigned kind_of(const char *symbol)
{
    unsigned kind = 0;
    while (kind < KINDS && (name_of[kind][0] != symbol[0] || strcmp(name_of[kind], symbol)))
        kind++;
    return kind;
}

static bool is_inside(const struct tfd_image *image, const void *value)
{
    return (uintptr_t)value >= image->start && (uintptr_t)value < image->end;
}

/* Return the function that the slot stands for; NULL if a stub of a program that is not position independent stands for
 * it, since that would come back to the slot. */
static void *definition_for(const struct tfd_image *image, unsigned kind)
{
    if (!definition[kind])
        definition[kind] = dlsym(RTLD_DEFAULT, name_of[kind]);
    return definition[kind] && !is_inside(image, definition[kind]) ? definition[kind] : NULL;
}

static bool is_known(const void *value, unsigned kind)
{
    return value == definition[kind] || (ours.wrapper && ours.is_definition(value, hook_of[kind]));
}

/* Return what the slot would hold without us. */
static void *value_of(void **address)
{
    void *before = found_before ? found_before(address) : NULL;
    return before ? before : __atomic_load_n(address, __ATOMIC_ACQUIRE);
}

/* `context`: points to true if only opens are wanted. */
static void collect(void *context, const struct tfd_image *image, const struct tfd_slot_place *place)
{
    const bool *opens_alone = context;
    unsigned kind = kind_of(place->symbol);
    if (kind == KINDS || (*opens_alone && !is_open[kind]) || found_count == MAX_SLOTS ||
        !definition_for(image, kind) || (uintptr_t)place->address % sizeof(void *))
        return;
    void *value = value_of(place->address);
    if (value && (is_inside(image, value) || is_known(value, kind)))
        slots[found_count++] = (struct late_attach_slot){place->address, value, kind, 0};
}

/* An interpreter has tens of thousands of relocations. The calls that are wanted are in its linkage table if it has
 * one. */
static void collect_slots(const struct tfd_image *image)
{
    bool opens_alone = false;
    tfd_image_visit_jump_slots(image, collect, &opens_alone);
    if (!found_count)
        tfd_image_visit_slots(image, collect, &opens_alone);
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

/* Slots in pages that hold code, or whose protection is not known, are left alone. */
static void add_writable(const struct tfd_image *image)
{
    struct tfd_range range = {0};
    unsigned kept = slot_count;
    for (unsigned i = kept; i < found_count; i++) {
        uintptr_t address = (uintptr_t)slots[i].address;
        bool is_known_range = address >= range.start && address < range.end;
        if (!is_known_range && !tfd_page_range_of(slots[i].address, image, &range))
            continue;
        slots[i].protection = range.protection;
        if (!(range.protection & PROT_EXEC))
            slots[kept++] = slots[i];
    }
    found_count = kept;
    atomic_store(&slot_count, kept);
}

static bool may_patch(const struct tfd_image *image)
{
    return !ours.wrapper || ours.may_patch(image);
}

static void add_libraries(void)
{
    struct tfd_image image;
    bool opens_alone = true;
    while (tfd_next_reading_library(&image)) {
        if (may_patch(&image))
            tfd_image_visit_jump_slots(&image, collect, &opens_alone);
        add_writable(&image);
    }
}

static void aim(void)
{
    for (unsigned kind = 0; kind < KINDS; kind++)
        atomic_store(&target[kind], ours.wrapper ? ours.wrapper[hook_of[kind]] : definition[kind]);
}

/* Symbols are resolved after the loader's list was read: dlsym may take the lock of the list. */
void tfd_late_attach_prepare(const void *address, void (*notice)(bool opens))
{
    struct tfd_image image = {.dynamic = address};
    tell = notice;
    slot_count = found_count = 0;
    if (dl_iterate_phdr(find_image, &image) && may_patch(&image))
        collect_slots(&image);
    add_writable(&image);
    add_libraries();
    aim();
}

void tfd_late_attach_watch(const _Atomic uint32_t *counter)
{
    watched = counter;
}

void tfd_late_attach_set_seen(uint32_t value)
{
    atomic_store(&seen, value);
}

static void write_slot(const struct late_attach_slot *slot, void *value)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *start = (void *)((uintptr_t)slot->address & ~(page - 1));
    bool locked = !(slot->protection & PROT_WRITE);
    if (locked && mprotect(start, page, PROT_READ | PROT_WRITE))
        return;
    __atomic_store_n(slot->address, value, __ATOMIC_RELEASE);
    if (locked)
        mprotect(start, page, slot->protection);
}

static void *held_by(const struct late_attach_slot *slot)
{
    return __atomic_load_n(slot->address, __ATOMIC_ACQUIRE);
}

/* A slot that another tool has patched since is left alone. */
static bool may_take(const struct late_attach_slot *slot)
{
    const void *held = held_by(slot);
    return held != late_attach_of[slot->kind] &&
           (value_of(slot->address) == slot->found || is_known(held, slot->kind));
}

static void take_slots(unsigned first)
{
    for (unsigned i = first; i < slot_count; i++)
        if (may_take(&slots[i]))
            write_slot(&slots[i], late_attach_of[slots[i].kind]);
}

void tfd_late_attach_arm(void)
{
    atomic_store(&armed_pid, slot_count ? own_pid() : 0);
    aim();
    take_slots(0);
}

static atomic_flag is_looking = ATOMIC_FLAG_INIT;
static bool may_not_look;
static __thread bool holds;
static __thread unsigned hold_depth; /* more than 1: a signal handler forks while its thread forks */

/* If two threads come here at once, one of them looks for libraries, and the other looks at its next import. A session
 * that begins meanwhile may find these slots to be ours still, and leaves them. */
static void take_new_libraries(void)
{
    if (may_not_look || atomic_flag_test_and_set(&is_looking))
        return;
    unsigned first = slot_count;
    add_libraries();
    aim(); /* libraries may call functions that the interpreter does not */
    take_slots(first);
    atomic_flag_clear(&is_looking);
}

void tfd_late_attach_hold(void)
{
    int saved_errno = errno;
    if (hold_depth++)
        return;
    holds = !atomic_flag_test_and_set(&is_looking);
    for (int slept_ms = 0; !holds && slept_ms < HOLD_WAIT_MS; slept_ms++) {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        holds = !atomic_flag_test_and_set(&is_looking);
    }
    errno = saved_errno;
}

void tfd_late_attach_release(void)
{
    if (--hold_depth)
        return;
    if (holds)
        atomic_flag_clear(&is_looking);
    holds = false;
}

void tfd_late_attach_release_in_child(bool may_look)
{
    may_not_look = !may_look;
    hold_depth--;
    holds = false;
    atomic_flag_clear(&is_looking);
}

void tfd_late_attach_disarm(void)
{
    atomic_store(&armed_pid, 0);
}

void tfd_late_attach_use_wrappers(const struct tfd_late_attach_wrappers *wrappers)
{
    ours = *wrappers;
    aim();
}

void *tfd_late_attach_found(void **slot)
{
    for (unsigned i = 0; i < slot_count; i++)
        if (slots[i].address == slot)
            return held_by(&slots[i]) == late_attach_of[slots[i].kind] ? slots[i].found : NULL;
    return NULL;
}

void tfd_late_attach_replace(void *(*found)(void **slot))
{
    found_before = found;
}

void tfd_late_attach_leave(void)
{
    for (unsigned i = 0; i < slot_count; i++)
        if (held_by(&slots[i]) == late_attach_of[slots[i].kind])
            write_slot(&slots[i], slots[i].found);
}

void tfd_late_attach_follow(void)
{
    for (unsigned i = 0; i < slot_count; i++) {
        void *held = held_by(&slots[i]);
        if (held != late_attach_of[slots[i].kind])
            atomic_store(&target[slots[i].kind], held);
    }
}
