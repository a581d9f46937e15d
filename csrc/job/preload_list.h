/* The list of libraries that the loader loads first into a program, as its environment has it. */
#ifndef TFD_PRELOAD_LIST_H
#define TFD_PRELOAD_LIST_H

#include <stdbool.h>

#define TFD_PRELOAD_VARIABLE "LD_PRELOAD"

/* Remove the library from the list in place, and leave the other entries as they are written; return false if it is not
 * in the list. A `library` of NULL removes nothing. */
bool tfd_preload_list_remove(char *list, const char *library);

#endif
