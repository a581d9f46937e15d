/* The loaded objects that were looked at since the last undo. One caller at a time. */
#ifndef TFD_OBJECT_LIST_H
#define TFD_OBJECT_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "hooks/elf_image.h"

/* True where the object is in the list; notes that the scan `stamp` saw it. */
bool tfd_object_is_known(const struct tfd_image *image, uint64_t stamp);
/* Its number, -1 without memory. */
int64_t tfd_object_add(const struct tfd_image *image, uint64_t stamp);
/* The next scan looks at it again. */
void tfd_object_drop(uint32_t object);
/* Objects that the scan did not see went away: another may come to the same address. */
void tfd_objects_forget_vanished(uint64_t stamp);
/* Keeps the object loaded for good, `newly` or before: undo would write into unmapped memory after a
 * dlclose. Not within dl_iterate_phdr, whose lock dlopen takes too. */
bool tfd_object_pin(uint32_t object, bool *newly);
void tfd_objects_clear(void);

#endif
