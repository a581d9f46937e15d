/* Who defines the hooked functions: what our wrappers call, and which objects and slots are left alone. */
#ifndef TFD_DEFINITIONS_H
#define TFD_DEFINITIONS_H

#include <stdbool.h>

#include "hooks/elf_image.h"

/* Our wrapper of each hook; NULL before tfd_definitions_find. */
extern void *const *tfd_wrapper;
/* Fills tfd_next and tfd_definition, and keeps `wrappers`. Once per process. */
void tfd_definitions_find(void *const *wrappers);
/* Leaves the object loaded at `base` alone, whatever it is called. */
void tfd_never_patch(const void *base);
/* False for who defines a hooked function, for us and for the loader. */
bool tfd_may_patch(const struct tfd_image *image);
/* A bound slot's value that is the program's own: the C library's function, the first definition in the
 * process, the program's stub for that, or our wrapper. Anything else, but for the object's stub in a slot that
 * is not bound yet, was put there by another tool, whose calls we would cut off. */
bool tfd_is_definition(const void *value, unsigned hook);
/* A program that is not position independent may have a stub whose address stands for the function: every
 * pointer to it in the process then holds that, at an address as low as the program's. */
bool tfd_is_program_stub(const void *value, unsigned hook);

#endif
