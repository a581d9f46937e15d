/* Libraries that are loaded while a session records: patched before dlsym hands out what is in them. */
#ifndef TFD_WRAP_LOADER_H
#define TFD_WRAP_LOADER_H

#include "tfdarshan.h"

/* At a session's start. */
void tfd_late_libraries_reset(void);
/* Adds the slots in them that were left alone. */
void tfd_late_libraries_report(struct tfd_attach_report *report);

#endif
