#define _GNU_SOURCE
#include "hooks/got_patch.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "hooks/definitions.h"
#include "hooks/elf_image.h"
#include "hooks/hook_index.h"
#include "hooks/inherited_objects.h"
#include "hooks/late_attach.h"
#include "hooks/object_list.h"
#include "hooks/page_protection.h"

/* A slot that was found, and is patched later. */
struct slot {
    void **address;
    void *saved;
    uint32_t object;
    uint16_t hook;
    bool may_be_bound;  /* the loader may still write it, so its page stays writable */
    uint8_t protection; /* of its page, when it was patched */
};

struct scan {
    uint64_t stamp;
    uint64_t objects, relocations, foreign;
    uint32_t object;
    bool unready; /* the object is not relocated yet, or has slots that nobody fills */
    bool waits;   /* leave such objects out until the next scan */
    bool left_out;
    bool out_of_memory;
};

static struct slot *slots;
static size_t slot_count, slot_capacity;
static size_t patched_count; /* slots[0 .. patched_count) hold our wrappers */
static uint64_t scan_stamp;
static _Atomic uint64_t known_adds, known_subs;
static const struct link_map *inherited_tail; /* last object in a child's list, until the child loads one */
static uint64_t left_out;                     /* slots that the last patch could not write; a later one may */
static bool aio_is_mapped;                    /* as the last list of mappings said */
static bool make_room_for_slot(void)
{
    if (slot_count < slot_capacity)
        return true;
    size_t larger = slot_capacity ? 2 * slot_capacity : 1024;
    struct slot *grown = realloc(slots, larger * sizeof *slots);
    if (!grown)
        return false;
    slots = grown;
    slot_capacity = larger;
    return true;
}

/* Before relocation a slot is empty or holds an offset within its object. The address of a stub in a program that is
 * not position independent is as low. */
static bool is_relocated(const struct tfd_image *image, const void *value, unsigned hook)
{
    return !image->base || (uintptr_t)value >= image->end - image->base ||
           (value && tfd_is_program_stub(value, hook));
}

static bool is_inside(const struct tfd_image *image, const void *value)
{
    return (uintptr_t)value >= image->start && (uintptr_t)value < image->end;
}

/* Functions of other libraries than the C library are known once a slot holds them. A slot that is not bound yet is left
 * alone: of two libraries that define a function, its object may mean either. */
static bool is_known(const struct tfd_image *image, void *value, unsigned hook)
{
    if (hook < TFD_FIRST_LIBRARY_HOOK)
        return tfd_next[hook];
    return value && is_relocated(image, value, hook) && !is_inside(image, value) &&
           tfd_is_library_definition(value, hook);
}

static void collect_slot(void *context, const struct tfd_image *image, const struct tfd_slot_place *place)
{
    struct scan *scan = context;
    int hook = tfd_hook_by_name(place->symbol);
    if (hook < 0 || (uintptr_t)place->address % sizeof(void *))
        return;
    void *value = __atomic_load_n(place->address, __ATOMIC_ACQUIRE); /* a thread may bind the slot now */
    if (!is_known(image, value, (unsigned)hook) ||
        tfd_is_late_attach(value, (unsigned)hook)) /* the function there calls our wrapper */
        return;
    scan->unready |= !is_relocated(image, value, (unsigned)hook);
    if (!value)
        return;
    if (!is_inside(image, value) && !tfd_is_definition(value, (unsigned)hook)) {
        scan->foreign++;
        return;
    }
    if (!make_room_for_slot()) {
        scan->out_of_memory = true;
        return;
    }
    void *saved = value == tfd_wrapper[hook] ? tfd_definition[hook] : value;
    bool may_be_bound = place->is_jump_slot && is_inside(image, value);
    slots[slot_count++] = (struct slot){place->address, saved, scan->object, (uint16_t)hook, may_be_bound, 0};
}

static void look_at(const struct tfd_image *image, struct scan *scan)
{
    size_t first = slot_count;
    uint64_t foreign = scan->foreign;
    scan->objects++;
    scan->unready = false;
    scan->relocations += tfd_image_visit_slots(image, collect_slot, scan);
    if (!scan->unready || !scan->waits)
        return;
    slot_count = first;
    scan->foreign = foreign;
    scan->objects--;
    scan->left_out = true;
    tfd_object_drop(scan->object);
}

static int visit_object(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct scan *scan = context;
    struct tfd_image image;
    atomic_store(&known_adds, info->dlpi_adds);
    atomic_store(&known_subs, info->dlpi_subs);
    if (!tfd_image_read(info, &image) || tfd_object_is_known(&image, scan->stamp))
        return 0;
    int64_t object = tfd_object_add(&image, scan->stamp);
    scan->out_of_memory |= object < 0;
    if (object < 0)
        return 0;
    scan->object = (uint32_t)object;
    if (tfd_may_patch(&image))
        look_at(&image, scan);
    else
        scan->objects++;
    return 0;
}

static int by_address(const void *left, const void *right)
{
    uintptr_t a = (uintptr_t)((const struct slot *)left)->address,
              b = (uintptr_t)((const struct slot *)right)->address;
    return (a > b) - (a < b);
}

/* Drop slots in objects that could not be pinned. */
static void keep_pinned(size_t first, struct tfd_attach_report *report)
{
    size_t kept = first;
    for (size_t i = first; i < slot_count; i++) {
        bool newly;
        if (!tfd_object_pin(slots[i].object, &newly))
            continue;
        report->objects_pinned += newly;
        slots[kept++] = slots[i];
    }
    slot_count = kept;
}

/* Sort the slots from `first` on and drop duplicates: the tables of relocations may overlap. */
static void sort_slots(size_t first)
{
    size_t kept = first;
    qsort(slots + first, slot_count - first, sizeof *slots, by_address);
    for (size_t i = first; i < slot_count; i++)
        if (kept == first || slots[i].address != slots[kept - 1].address)
            slots[kept++] = slots[i];
    slot_count = kept;
}

typedef bool write_slot(struct slot *slot);

static bool write_wrapper(struct slot *slot)
{
    __atomic_store_n(slot->address, tfd_wrapper[slot->hook], __ATOMIC_RELEASE);
    return true;
}

/* This writes only over our own wrapper: a value that another tool has written since stays. */
static bool write_saved(struct slot *slot)
{
    void *ours = tfd_wrapper[slot->hook];
    return __atomic_compare_exchange_n(slot->address, &ours, slot->saved, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

/* Without a list of mappings, as when no descriptor is left or after chroot(2), a page has the protection that it had when
 * it was patched, or less: the loader may have locked it since. */
static int protection_of(const struct tfd_protection_map *map, const struct slot *slot, uintptr_t page_start,
                         uintptr_t page_bytes, uintptr_t *end)
{
    if (map)
        return tfd_protection_at(map, page_start, end);
    *end = page_start + page_bytes;
    return slot->protection ? slot->protection : -1;
}

/* Write the slots [first, last), which are sorted by address. Read-only pages
 * (RELRO) are writable meanwhile; a page never becomes executable. */
static size_t write_pages(const struct tfd_protection_map *map, size_t first, size_t last, write_slot *write,
                          uint64_t *refused)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    size_t written = 0;
    for (size_t i = first; i < last;) {
        uintptr_t start = (uintptr_t)slots[i].address & ~(page - 1), range_end = 0;
        int protection = protection_of(map, &slots[i], start, page, &range_end);
        size_t next = i;
        while (next < last && (uintptr_t)slots[next].address < range_end)
            next++;
        uintptr_t length = next > i ? (((uintptr_t)slots[next - 1].address | (page - 1)) + 1) - start : 0;
        bool locked = !map || !(protection & PROT_WRITE);
        if (protection < 0 || (protection & PROT_EXEC) || next == i ||
            (locked && mprotect((void *)start, length, PROT_READ | PROT_WRITE))) {
            next = next == i ? i + 1 : next;
            *refused += next - i;
            i = next;
            continue;
        }
        for (; i < next; i++) {
            slots[i].protection = (uint8_t)protection;
            written += write(&slots[i]);
        }
        if (locked)
            mprotect((void *)start, length, protection);
    }
    return written;
}

/* Return 0, or -errno if nothing was written. What was written is put back also where nobody tells the mappings. */
static int write_slots(size_t first, size_t last, write_slot *write, uint64_t *written, uint64_t *refused)
{
    struct tfd_protection_map map;
    if (first == last)
        return 0;
    int status = tfd_protection_map_read(&map);
    if (status && write != write_saved)
        return status;
    aio_is_mapped = map.has_aio_context;
    *written += write_pages(status ? NULL : &map, first, last, write, refused);
    tfd_protection_map_free(&map);
    return 0;
}

/* Forget the slots from `first` on; the next scan finds them again. */
static void take_back(size_t first)
{
    left_out = slot_count - first;
    for (size_t i = first; i < slot_count; i++)
        tfd_object_drop(slots[i].object);
    slot_count = first;
}

/* A thread that binds a slot lazily while it is patched stores the definition over our wrapper. This writes such slots
 * only. In a program that is not position independent, the value saved from a pointer in a read-only page is a stub and
 * never the definition, and even a compare-exchange that fails is a write to the page. */
static void rewrite_slots_bound_meanwhile(void)
{
    for (size_t i = 0; i < patched_count; i++) {
        const struct slot *slot = &slots[i];
        void *wrapper = tfd_wrapper[slot->hook];
        void *held = slot->may_be_bound ? __atomic_load_n(slot->address, __ATOMIC_ACQUIRE) : wrapper;
        if (held != wrapper && tfd_is_definition(held, slot->hook))
            __atomic_compare_exchange_n(slot->address, &held, wrapper, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED);
    }
}

static void wait_for_loader(void)
{
    void *handle = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (handle)
        dlclose(handle);
}

static bool distrusts_list(void)
{
    if (inherited_tail && __atomic_load_n(&inherited_tail->l_next, __ATOMIC_ACQUIRE))
        inherited_tail = NULL;
    return inherited_tail;
}

/* A library is in the loader's list before it is relocated. The thread that loads it holds the loader's lock until
 * then. */
static void scan_objects(struct scan *scan)
{
    scan->waits = true;
    if (distrusts_list()) {
        tfd_inherited_objects_visit(visit_object, scan);
        return;
    }
    dl_iterate_phdr(visit_object, scan);
    if (!scan->left_out)
        return;
    wait_for_loader();
    scan->waits = false;
    dl_iterate_phdr(visit_object, scan);
}

int tfd_got_patch(struct tfd_attach_report *report)
{
    struct scan scan = {.stamp = ++scan_stamp};
    size_t first = slot_count;
    left_out = 0;
    scan_objects(&scan);
    tfd_objects_forget_vanished(scan.stamp);
    report->objects_scanned += scan.objects;
    report->relocations_scanned += scan.relocations;
    report->slots_foreign += scan.foreign;
    keep_pinned(first, report);
    sort_slots(first);
    int status =
        write_slots(first, slot_count, write_wrapper, &report->slots_patched, &report->slots_refused);
    if (status)
        take_back(first);
    patched_count = slot_count;
    rewrite_slots_bound_meanwhile();
    if (scan.out_of_memory || status)
        atomic_store(&known_adds, UINT64_MAX);
    return scan.out_of_memory ? tfd_fail(ENOMEM, "no memory for the list of patched slots") : status;
}

void tfd_got_undo(struct tfd_attach_report *report)
{
    qsort(slots, patched_count, sizeof *slots, by_address);
    report->slots_refused += left_out;
    write_slots(0, patched_count, write_saved, &report->slots_restored, &report->slots_refused);
    slot_count = patched_count = left_out = 0;
    tfd_objects_clear();
}

bool tfd_got_saw_aio(void)
{
    return aio_is_mapped;
}

static int compare_loads(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    *(bool *)context = info->dlpi_adds != atomic_load_explicit(&known_adds, memory_order_relaxed) ||
                       info->dlpi_subs != atomic_load_explicit(&known_subs, memory_order_relaxed);
    return 1;
}

void tfd_got_distrust_list_in_child(void)
{
    inherited_tail = _r_debug.r_map;
    while (inherited_tail && inherited_tail->l_next)
        inherited_tail = inherited_tail->l_next;
}

bool tfd_got_stale(void)
{
    bool stale = false;
    if (distrusts_list())
        return false;
    dl_iterate_phdr(compare_loads, &stale);
    return stale;
}

uint64_t tfd_got_slots(unsigned hook)
{
    uint64_t count = 0;
    for (size_t i = 0; i < patched_count; i++)
        count += slots[i].hook == hook;
    return count;
}

static void count_wrapper(void *context, const struct tfd_image *image, const struct tfd_slot_place *place)
{
    (void)image;
    int hook = tfd_hook_by_name(place->symbol);
    *(uint64_t *)context += hook >= 0 && *place->address == tfd_wrapper[hook];
}

static int count_in_object(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct tfd_image image;
    if (tfd_image_read(info, &image))
        tfd_image_visit_slots(&image, count_wrapper, context);
    return 0;
}

uint64_t tfd_slots_holding_wrappers(void)
{
    uint64_t count = 0;
    if (!tfd_wrapper)
        return 0;
    tfd_hook_index_build();
    dl_iterate_phdr(count_in_object, &count);
    return count;
}
