#define _GNU_SOURCE
#include "hooks/definitions.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "hooks/hook_index.h"
#include "hooks/hook_table.h"

void *const *tfd_wrapper;
static void *libc_definition[TFD_HOOK_COUNT];
static void *default_lookup[TFD_HOOK_COUNT];
static uintptr_t never_patched[TFD_HOOK_COUNT + 8]; /* load addresses */
static size_t never_patched_count;

/* An address and the object that it lies in. */
struct place {
    uintptr_t address, start, end; /* of the object's segments; 0: the address lies in no object */
    bool in_program;
};

static int find_place(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct place *place = context;
    uintptr_t first = UINTPTR_MAX, last = 0;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr, end = start + segment->p_memsz;
        if (segment->p_type != PT_LOAD)
            continue;
        first = start < first ? start : first;
        last = end > last ? end : last;
    }
    if (place->address < first || place->address >= last)
        return 0;
    *place = (struct place){place->address, first, last, !info->dlpi_name[0]};
    return 1;
}

/* dladdr(3) searches all symbols of an object. This does not, and remembers the last object, where most addresses
 * lie. */
static struct place place_of(const void *address)
{
    static struct place last;
    uintptr_t wanted = (uintptr_t)address;
    if (wanted < last.start || wanted >= last.end) {
        last = (struct place){.address = wanted};
        dl_iterate_phdr(find_place, &last);
    }
    return last;
}

static uintptr_t base_of(const void *address)
{
    return place_of(address).start;
}

static void never_patch(uintptr_t base)
{
    for (size_t i = 0; i < never_patched_count; i++)
        if (never_patched[i] == base)
            return;
    if (base && never_patched_count < sizeof never_patched / sizeof *never_patched)
        never_patched[never_patched_count++] = base;
}

/* If a program is not position independent and takes a function's address, its
 * own stub stands for the function everywhere. That stub jumps through a slot
 * that we patch: as the next function it would come back to us for ever. The
 * definition behind the stub is that of the first library. */
static void *behind_program_stub(void *address, const char *symbol)
{
    Dl_info info;
    const ElfW(Sym) *found = NULL;
    if (!place_of(address).in_program || !dladdr1(address, &info, (void **)&found, RTLD_DL_SYMENT) ||
        !found || found->st_shndx != SHN_UNDEF)
        return address;
    for (const struct link_map *map = _r_debug.r_map->l_next; map; map = map->l_next) {
        void *handle = map->l_name[0] ? dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
        void *definition = handle ? dlsym(handle, symbol) : NULL;
        if (handle)
            dlclose(handle);
        if (definition)
            return definition;
    }
    return NULL;
}

static const struct {
    const char *name;
    unsigned hook;
} aliases[] = {
#define A(name, symbol) {#name, TFD_HOOK_##symbol},
    TFD_ALIASES(A)
#undef A
};

/* If an interposer defines only one of the names, the names mean two functions, and the alias is left alone. */
static void find_aliases(void)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        void *definition = dlsym(RTLD_DEFAULT, aliases[i].name);
        if (definition && definition == tfd_definition[aliases[i].hook])
            tfd_hook_index_add(aliases[i].name, aliases[i].hook);
    }
}

/* An object that defines one of our symbols (the C library, a preloaded
 * interposer, a sanitizer's runtime) must reach the next definition, not our
 * wrapper, or its calls would be counted twice. */
void tfd_definitions_find(void *const *wrappers)
{
    tfd_wrapper = wrappers;
    tfd_hook_index_build();
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    for (unsigned hook = 0; hook < TFD_HOOK_COUNT; hook++) {
        default_lookup[hook] = dlsym(RTLD_DEFAULT, tfd_hooks[hook].symbol);
        tfd_definition[hook] = behind_program_stub(default_lookup[hook], tfd_hooks[hook].symbol);
        __atomic_store_n(&tfd_next[hook], tfd_definition[hook], __ATOMIC_RELEASE);
        libc_definition[hook] = libc ? dlsym(libc, tfd_hooks[hook].symbol) : NULL;
        if (tfd_definition[hook] && hook < TFD_FIRST_LIBRARY_HOOK)
            never_patch(base_of(tfd_definition[hook]));
        if (libc_definition[hook])
            never_patch(base_of(libc_definition[hook]));
    }
    find_aliases();
    if (libc)
        dlclose(libc);
    never_patch(base_of((const void *)tfd_definitions_find));
    never_patch(base_of((const void *)(uintptr_t)_r_debug.r_brk)); /* the dynamic loader */
}

void tfd_never_patch(const void *base)
{
    never_patch((uintptr_t)base);
}

bool tfd_may_patch(const struct tfd_image *image)
{
    for (size_t i = 0; i < never_patched_count; i++)
        if (image->start <= never_patched[i] && never_patched[i] < image->end)
            return false;
    return !strstr(image->name, "libdarshan");
}

bool tfd_is_library_definition(void *value, unsigned hook)
{
    if (!tfd_definition[hook]) {
        tfd_definition[hook] = value;
        __atomic_store_n(&tfd_next[hook], value, __ATOMIC_RELEASE);
    }
    return value == tfd_definition[hook] || value == tfd_wrapper[hook];
}

bool tfd_is_program_stub(const void *value, unsigned hook)
{
    return value == default_lookup[hook] && value != tfd_definition[hook];
}

bool tfd_is_definition(const void *value, unsigned hook)
{
    return value == tfd_definition[hook] || value == libc_definition[hook] || value == default_lookup[hook] ||
           value == tfd_wrapper[hook];
}
