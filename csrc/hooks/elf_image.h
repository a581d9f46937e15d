/* Reads the dynamic section of a loaded object; never writes. */
#ifndef TFD_ELF_IMAGE_H
#define TFD_ELF_IMAGE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tfd_relocations {
    const ElfW(Rela) * first;
    size_t count;
};

struct tfd_image {
    const char *name;                 /* the loader's; "" is the main program */
    uintptr_t base;                   /* load address */
    uintptr_t start, end;             /* of all loaded segments */
    uintptr_t relro_start, relro_end; /* pages that the loader makes read-only after relocation */
    const ElfW(Dyn) * dynamic;
    const ElfW(Sym) * symbols;
    const char *strings;
    uint32_t first_hashed; /* first symbol from which on all are defined here; UINT32_MAX: not known */
    struct tfd_relocations tables[2]; /* .rela.dyn without its relative relocations, .rela.plt */
};

struct tfd_slot_place {
    void **address;
    const char *symbol;
    bool is_jump_slot; /* the loader may write such a slot later, at the first call */
};

typedef void tfd_visit_slot(void *context, const struct tfd_image *image, const struct tfd_slot_place *place);

/* Read an object; return false if it has no dynamic symbols (the vDSO, static programs). */
bool tfd_image_read(const struct dl_phdr_info *info, struct tfd_image *image);
/* Call `visit` for every slot of the procedure linkage table that holds the address of an undefined symbol. */
void tfd_image_visit_jump_slots(const struct tfd_image *image, tfd_visit_slot *visit, void *context);
/* Call `visit` for every slot that holds the address of an undefined symbol; return how many relocations were read. */
size_t tfd_image_visit_slots(const struct tfd_image *image, tfd_visit_slot *visit, void *context);

#endif
