/* Points the slots of loaded objects at our wrappers, and back. One caller at a time. */
#ifndef TFD_GOT_PATCH_H
#define TFD_GOT_PATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "tfdarshan.h"

/* Patches objects not looked at since the last undo. 0 or -errno. */
int tfd_got_patch(struct tfd_attach_report *report);
/* Every slot that still holds our wrapper gets the value saved from it. */
void tfd_got_undo(struct tfd_attach_report *report);
/* True when objects were loaded or unloaded since the last patch. Takes about 40 ns. */
bool tfd_got_stale(void);
/* In a forked child: the lock of the loader's list may be held by a thread that is not there. Until the list
 * grows, which shows that the lock can be had, nobody looks at it. */
void tfd_got_distrust_list_in_child(void);
uint64_t tfd_got_slots(unsigned hook);

#endif
