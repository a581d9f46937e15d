/* Waits of threads of one process until a word has another value. */
#ifndef TFD_FUTEX_H
#define TFD_FUTEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Wait for `for_ns` at most, and not at all if the word has another value. The word may still have this value
 * afterwards. */
void tfd_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t for_ns);
void tfd_futex_wake(_Atomic uint32_t *word);
/* Wait while the word has this value; return false after `for_ns`. */
bool tfd_futex_wait_while(_Atomic uint32_t *word, uint32_t value, int64_t for_ns);

#endif
