/* The list of libraries that the loader loads first into a program, as its environment has it. */
#ifndef TFD_PRELOAD_LIST_H
#define TFD_PRELOAD_LIST_H

#include <stdbool.h>

#define TFD_PRELOAD_VARIABLE "LD_PRELOAD"

/* Takes the library out of the list, in place; NULL: nothing. The others stay as they were written. False: it was
 * not there. */
bool tfd_preload_list_remove(char *list, const char *library);

#endif
