/* The loader's list in a child of fork, read without the list's lock: a thread of the parent may have held that
 * lock. */
#ifndef TFD_INHERITED_OBJECTS_H
#define TFD_INHERITED_OBJECTS_H

#include <link.h>
#include <stddef.h>

/* The same as dl_iterate_phdr(3), except that the loader's counts are 0. An object that a thread of the parent was
 * loading or unloading is left out if it is incomplete. Only for a process that has loaded no library since the
 * fork. */
void tfd_inherited_objects_visit(int (*visit)(struct dl_phdr_info *info, size_t size, void *context),
                                 void *context);

#endif
