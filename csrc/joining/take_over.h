#ifndef TFD_TAKE_OVER_H
#define TFD_TAKE_OVER_H

#include <stdbool.h>

/* Has the library for programs record this process no longer; `keep` says whether what it has is kept. False: it
 * does not record it. */
bool tfd_library_leaves(bool keep);
/* Has the library that waits for sessions do so no longer. False: it does not. */
bool tfd_waiting_library_leaves(void);

#endif
