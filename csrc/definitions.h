/* Who defines the hooked functions: what our wrappers call, and which objects and slots are left alone. */
#ifndef TFD_DEFINITIONS_H
#define TFD_DEFINITIONS_H

#include <stdbool.h>

#include "elf_image.h"

/* Fills tfd_next and tfd_definition. Once per process. */
void tfd_definitions_find(void);
/* Leaves the object loaded at `base` alone, whatever it is called. */
void tfd_never_patch(const void *base);
/* False for who defines a hooked function, for us and for the loader. */
bool tfd_may_patch(const struct tfd_image *image);
/* The program's own pointer: the C library's function, the first definition in
 * the process, or the object's not yet bound stub. Anything else was put there
 * by another tool, whose calls we would cut off. */
bool tfd_is_programs_own(const struct tfd_image *image, void *value, unsigned hook);

#endif
