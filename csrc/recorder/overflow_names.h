/* Names of files beyond the memory cap, so that each is counted once. Caller holds tfd_tables_lock. */
#ifndef TFD_OVERFLOW_NAMES_H
#define TFD_OVERFLOW_NAMES_H

#include <stdbool.h>
#include <stdint.h>

void tfd_overflow_names_reset(void); /* at session start, and in a child */
bool tfd_overflow_name_is_known(uint64_t hash);
/* True at the first sight of a name, by its hash. False once TFD_OVERFLOW_NAMES are known, or memory is short. */
bool tfd_overflow_name_is_new(uint64_t hash);

#endif
