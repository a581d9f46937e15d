/* The protection of single pages, quickly and without allocating memory. */
#ifndef TFD_PROTECTED_RANGE_H
#define TFD_PROTECTED_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "hooks/elf_image.h"

struct tfd_range {
    uintptr_t start, end;
    int protection; /* PROT_* */
};

/* Find the mapping that the address lies in; return false if nothing is mapped there or /proc/self/maps cannot be
 * read. */
bool tfd_range_of(const void *address, struct tfd_range *range);
/* Find the range of one slot's page, more quickly: a page that the loader made read-only, and that cannot be written,
 * counts as readable. */
bool tfd_page_range_of(const void *address, const struct tfd_image *image, struct tfd_range *range);

#endif
