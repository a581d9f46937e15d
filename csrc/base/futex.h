/* Threads of one process that wait until a word has another value. */
#ifndef TFD_FUTEX_H
#define TFD_FUTEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Waits for `for_ns` at most, and not at all where the word has another value: it may have the same one afterwards. */
void tfd_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t for_ns);
void tfd_futex_wake(_Atomic uint32_t *word);
/* Waits while the word has this value; false after `for_ns`. */
bool tfd_futex_wait_while(_Atomic uint32_t *word, uint32_t value, int64_t for_ns);

#endif
