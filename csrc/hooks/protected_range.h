/* How the page of an address is protected, for who asks of few: soon, and without memory. */
#ifndef TFD_PROTECTED_RANGE_H
#define TFD_PROTECTED_RANGE_H

#include <stdbool.h>
#include <stdint.h>

struct tfd_range {
    uintptr_t start, end;
    int protection; /* PROT_* */
};

/* A range of pages around the address that are protected alike, not always the largest. False where nothing is mapped
 * there, or that is not known. */
bool tfd_range_of(const void *address, struct tfd_range *range);

#endif
