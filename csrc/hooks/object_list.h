/* The loaded objects that were scanned since the last undo. One caller at a time. */
#ifndef TFD_OBJECT_LIST_H
#define TFD_OBJECT_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "hooks/elf_image.h"

/* Return true if the object is in the list, and note that scan `stamp` saw it. */
bool tfd_object_is_known(const struct tfd_image *image, uint64_t stamp);
/* Return the object's number, -1 if there is no memory. */
int64_t tfd_object_add(const struct tfd_image *image, uint64_t stamp);
/* Drop the object, so that the next scan looks at it again. */
void tfd_object_drop(uint32_t object);
/* Drop objects that the scan did not see: they were unloaded, and another object may get the same address. */
void tfd_objects_forget_vanished(uint64_t stamp);
/* Keep the object loaded for good, since undo would write into unmapped memory after a dlclose. `newly`: not pinned
 * before. Do not call this within dl_iterate_phdr, whose lock dlopen takes too. */
bool tfd_object_pin(uint32_t object, bool *newly);
void tfd_objects_clear(void);

#endif
