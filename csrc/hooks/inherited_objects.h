/* The loader's list as a child of fork found it, read without the list's lock: a thread that holds it may have stayed
 * behind in the parent. */
#ifndef TFD_INHERITED_OBJECTS_H
#define TFD_INHERITED_OBJECTS_H

#include <link.h>
#include <stddef.h>

/* As dl_iterate_phdr, but for the loader's counts, which are 0. What a thread of the parent was just loading or
 * unloading is passed over where it is not whole. Only while nobody has loaded a library in this process. */
void tfd_inherited_objects_visit(int (*visit)(struct dl_phdr_info *info, size_t size, void *context),
                                 void *context);

#endif
