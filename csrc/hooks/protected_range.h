/* How the page of an address is protected, for who asks of few: soon, and without memory. */
#ifndef TFD_PROTECTED_RANGE_H
#define TFD_PROTECTED_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "hooks/elf_image.h"

struct tfd_range {
    uintptr_t start, end;
    int protection; /* PROT_* */
};

/* The mapping that the address lies in; /proc/self/maps is read as far as that. False where nothing is mapped there, or
 * it cannot be read. */
bool tfd_range_of(const void *address, struct tfd_range *range);
/* The same of the page of an image's slot alone, and sooner: a page that the loader made read-only, and that cannot be
 * written, is taken for readable. */
bool tfd_page_range_of(const void *address, const struct tfd_image *image, struct tfd_range *range);

#endif
