/* Names of files beyond the memory cap, to count each once. The caller holds tfd_tables_lock. */
#ifndef TFD_OVERFLOW_NAMES_H
#define TFD_OVERFLOW_NAMES_H

#include <stdbool.h>
#include <stdint.h>

void tfd_overflow_names_reset(void); /* at session start, and in a child */
bool tfd_overflow_name_is_known(uint64_t hash);
/* Return true if a name, by its hash, is new; false once TFD_OVERFLOW_NAMES are known, or if there is no memory. */
bool tfd_overflow_name_is_new(uint64_t hash);

#endif
