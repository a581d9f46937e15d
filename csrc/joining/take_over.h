#ifndef TFD_TAKE_OVER_H
#define TFD_TAKE_OVER_H

#include <stdbool.h>

/* End the recording by the library for programs, and keep its spool if `keep`; return false if it does not record this
 * process. */
bool tfd_library_leaves(bool keep);
/* End the waiting of the library for late joins; return false if it does not wait. */
bool tfd_waiting_library_leaves(void);

#endif
