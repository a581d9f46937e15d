#define _GNU_SOURCE
#include "hooks/inherited_objects.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "hooks/page_protection.h"

static bool is_readable(const struct tfd_protection_map *map, const void *address, size_t bytes)
{
    uintptr_t end = 0;
    int protection = tfd_protection_at(map, (uintptr_t)address, &end);
    return protection >= 0 && protection & PROT_READ && end - (uintptr_t)address >= bytes;
}

static bool read_program(struct dl_phdr_info *info)
{
    info->dlpi_phdr = (const ElfW(Phdr) *)getauxval(AT_PHDR);
    info->dlpi_phnum = (ElfW(Half))getauxval(AT_PHNUM);
    return info->dlpi_phdr;
}

/* Linkers put a library's headers at its load address. */
static bool read_library(const struct tfd_protection_map *map, const struct link_map *object,
                         struct dl_phdr_info *info)
{
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)object->l_addr;
    if (!is_readable(map, header, sizeof *header) || memcmp(header->e_ident, ELFMAG, SELFMAG))
        return false;
    info->dlpi_phdr = (const ElfW(Phdr) *)(object->l_addr + header->e_phoff);
    info->dlpi_phnum = header->e_phnum;
    return is_readable(map, info->dlpi_phdr, info->dlpi_phnum * sizeof(ElfW(Phdr))) &&
           is_readable(map, object->l_ld, sizeof(ElfW(Dyn)));
}

void tfd_inherited_objects_visit(int (*visit)(struct dl_phdr_info *info, size_t size, void *context),
                                 void *context)
{
    struct tfd_protection_map map;
    if (tfd_protection_map_read(&map))
        return;
    for (const struct link_map *object = _r_debug.r_map; object; object = object->l_next) {
        struct dl_phdr_info info = {.dlpi_addr = object->l_addr, .dlpi_name = object->l_name};
        if (object == _r_debug.r_map ? read_program(&info) : read_library(&map, object, &info))
            visit(&info, sizeof info, context);
    }
    tfd_protection_map_free(&map);
}
