/* Libraries that are loaded while a session records. They are patched before dlsym returns their functions. */
#ifndef TFD_WRAP_LOADER_H
#define TFD_WRAP_LOADER_H

#include "tfdarshan.h"

/* Call this at a session's start. */
void tfd_late_libraries_reset(void);
/* Add the counts of these libraries' slots that were left alone. */
void tfd_late_libraries_report(struct tfd_attach_report *report);

#endif
