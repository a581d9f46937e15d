/* Points the slots of loaded objects at our wrappers and back. One caller at a time. */
#ifndef TFD_GOT_PATCH_H
#define TFD_GOT_PATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "tfdarshan.h"

/* Patch objects that were not patched since the last undo; return 0 or -errno. */
int tfd_got_patch(struct tfd_attach_report *report);
/* Restore the saved value of every slot that still holds our wrapper. */
void tfd_got_undo(struct tfd_attach_report *report);
/* Return true if an AIO context was mapped when this last read the list of mappings: it does to patch and to undo. */
bool tfd_got_saw_aio(void);
/* Return true if objects were loaded or unloaded since the last patch. Takes about 40 ns. */
bool tfd_got_stale(void);
/* Call this in a forked child: a thread of the parent may hold the lock of the loader's list. The child does not read
 * the list until it grows, which shows that the lock is free. */
void tfd_got_distrust_list_in_child(void);
uint64_t tfd_got_slots(unsigned hook);

#endif
