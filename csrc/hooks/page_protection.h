/* The protection of all mapped pages at one instant. */
#ifndef TFD_PAGE_PROTECTION_H
#define TFD_PAGE_PROTECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tfd_protection_map {
    struct tfd_protected_range {
        uintptr_t start, end;
        int protection; /* PROT_* */
    } * ranges;
    size_t count;
    bool has_aio_context; /* an AIO context is mapped */
};

int tfd_protection_map_read(struct tfd_protection_map *map);
void tfd_protection_map_free(struct tfd_protection_map *map);
/* Return PROT_* of the range that holds the address, -1 if nothing is mapped there; `end` gets the range's end. */
int tfd_protection_at(const struct tfd_protection_map *map, uintptr_t address, uintptr_t *end);

#endif
