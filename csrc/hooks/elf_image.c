#define _GNU_SOURCE
#include "hooks/elf_image.h"

#include <elf.h>
#include <unistd.h>

/* Types of relocations whose slot holds a function's address: the procedure
 * linkage table, the global offset table (-fno-plt, pointers taken), and plain
 * pointers in data (tables of functions such as sqlite's). */
#if defined(__x86_64__)
enum { JUMP_SLOT = R_X86_64_JUMP_SLOT, GLOB_DAT = R_X86_64_GLOB_DAT, POINTER = R_X86_64_64 };
#elif defined(__aarch64__)
enum { JUMP_SLOT = R_AARCH64_JUMP_SLOT, GLOB_DAT = R_AARCH64_GLOB_DAT, POINTER = R_AARCH64_ABS64 };
#else
#error "tfdarshan runs on x86-64 and aarch64"
#endif

/* glibc writes absolute addresses into the dynamic sections of objects, but those of the vDSO stay relative. */
static uintptr_t absolute(uintptr_t base, uintptr_t value)
{
    return value < base ? base + value : value;
}

static void read_segments(const struct dl_phdr_info *info, struct tfd_image *image)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    image->start = UINTPTR_MAX;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr, end = start + segment->p_memsz;
        if (segment->p_type == PT_DYNAMIC) {
            image->dynamic = (const ElfW(Dyn) *)start;
        } else if (segment->p_type == PT_GNU_RELRO) {
            image->relro_start = start & ~(page - 1);
            image->relro_end = end & ~(page - 1);
        } else if (segment->p_type == PT_LOAD) {
            image->start = start < image->start ? start : image->start;
            image->end = end > image->end ? end : image->end;
        }
    }
}

/* The header of DT_GNU_HASH, followed by the bloom filter and the buckets. */
struct gnu_hash {
    uint32_t buckets, first_hashed, bloom_words, bloom_shift;
    ElfW(Addr) bloom[];
};

/* Return the first symbol from which on all are defined. The hash table holds defined symbols only, and they follow the
 * others. So most relocations, which name a library's own symbols, need no look at the symbol. Neither an empty table
 * nor a program's table tells: a program's may hold an undefined function whose address the program takes. */
static uint32_t first_hashed_symbol(const struct tfd_image *image, uintptr_t address)
{
    const struct gnu_hash *table = (const struct gnu_hash *)address;
    if (!table || !image->name[0])
        return UINT32_MAX;
    const uint32_t *bucket = (const uint32_t *)&table->bloom[table->bloom_words];
    for (uint32_t i = 0; i < table->buckets; i++)
        if (bucket[i])
            return table->first_hashed;
    return UINT32_MAX;
}

static void read_dynamic(struct tfd_image *image)
{
    uintptr_t rela = 0, plt = 0, gnu_hash = 0;
    size_t rela_bytes = 0, plt_bytes = 0, relative_count = 0;
    for (const ElfW(Dyn) *entry = image->dynamic; entry->d_tag != DT_NULL; entry++) {
        uintptr_t value = entry->d_un.d_val;
        switch (entry->d_tag) {
        case DT_SYMTAB:
            image->symbols = (const ElfW(Sym) *)absolute(image->base, value);
            break;
        case DT_STRTAB:
            image->strings = (const char *)absolute(image->base, value);
            break;
        case DT_GNU_HASH:
            gnu_hash = absolute(image->base, value);
            break;
        case DT_RELA:
            rela = absolute(image->base, value);
            break;
        case DT_RELASZ:
            rela_bytes = value;
            break;
        case DT_RELACOUNT:
            relative_count = value;
            break;
        case DT_JMPREL:
            plt = absolute(image->base, value);
            break;
        case DT_PLTRELSZ:
            plt_bytes = value;
            break;
        }
    }
    image->first_hashed = first_hashed_symbol(image, gnu_hash);
    size_t rela_count = rela_bytes / sizeof(ElfW(Rela));
    relative_count = relative_count < rela_count ? relative_count : rela_count;
    image->tables[0] =
        (struct tfd_relocations){(const ElfW(Rela) *)rela + relative_count, rela_count - relative_count};
    image->tables[1] = (struct tfd_relocations){(const ElfW(Rela) *)plt, plt_bytes / sizeof(ElfW(Rela))};
}

bool tfd_image_read(const struct dl_phdr_info *info, struct tfd_image *image)
{
    *image = (struct tfd_image){.name = info->dlpi_name ? info->dlpi_name : "", .base = info->dlpi_addr};
    read_segments(info, image);
    if (!image->dynamic)
        return false;
    read_dynamic(image);
    return image->symbols && image->strings;
}

static bool holds_function(const ElfW(Rela) * relocation)
{
    uint32_t type = (uint32_t)ELF64_R_TYPE(relocation->r_info);
    return type == JUMP_SLOT || type == GLOB_DAT || (type == POINTER && relocation->r_addend == 0);
}

static void visit_table(const struct tfd_image *image, const struct tfd_relocations *table,
                        tfd_visit_slot *visit, void *context)
{
    for (size_t i = 0; i < table->count; i++) {
        const ElfW(Rela) *relocation = &table->first[i];
        uint32_t number = (uint32_t)ELF64_R_SYM(relocation->r_info);
        if (number >= image->first_hashed || !holds_function(relocation))
            continue;
        const ElfW(Sym) *symbol = &image->symbols[number];
        if (symbol->st_shndx != SHN_UNDEF || !symbol->st_name)
            continue;
        const struct tfd_slot_place place = {(void **)(image->base + relocation->r_offset),
                                             image->strings + symbol->st_name,
                                             ELF64_R_TYPE(relocation->r_info) == JUMP_SLOT};
        visit(context, image, &place);
    }
}

void tfd_image_visit_jump_slots(const struct tfd_image *image, tfd_visit_slot *visit, void *context)
{
    visit_table(image, &image->tables[1], visit, context);
}

size_t tfd_image_visit_slots(const struct tfd_image *image, tfd_visit_slot *visit, void *context)
{
    for (size_t i = 0; i < 2; i++)
        visit_table(image, &image->tables[i], visit, context);
    return image->tables[0].count + image->tables[1].count;
}
