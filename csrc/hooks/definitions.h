/* Which object defines each hooked function, what our wrappers call, and which objects and slots are left alone. */
#ifndef TFD_DEFINITIONS_H
#define TFD_DEFINITIONS_H

#include <stdbool.h>

#include "hooks/elf_image.h"

/* The wrapper of each hook; NULL before tfd_definitions_find(). */
extern void *const *tfd_wrapper;
/* Fill tfd_next and tfd_definition, and keep `wrappers`. Call this once per process. */
void tfd_definitions_find(void *const *wrappers);
/* Leave the object loaded at `base` alone, whatever its name. */
void tfd_never_patch(const void *base);
/* Return false for an object that defines a hooked function, for this library and for the loader. */
bool tfd_may_patch(const struct tfd_image *image);
/* Return true if a bound slot's value is the program's own: the C library's function, the first definition in the
 * process, the program's stub for that, or our wrapper. Another tool has written any other value, except for the
 * object's stub in a slot that is not bound yet. We leave such a slot alone, or that tool would miss calls. */
bool tfd_is_definition(const void *value, unsigned hook);
/* The same for a function of another library than the C library. The first definition that a slot leads to is the one
 * that the wrapper calls. */
bool tfd_is_library_definition(void *value, unsigned hook);
/* Return true if `value` is the stub of a program that is not position independent. Every pointer to the function in
 * the process then holds the stub's address, which is as low as the program's. */
bool tfd_is_program_stub(const void *value, unsigned hook);

#endif
