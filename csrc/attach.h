/* Starts and stops sessions: the one place that knows the order of things. */
#ifndef TFD_ATTACH_H
#define TFD_ATTACH_H

/* Clocks, tables and fork handlers, once per process. */
int tfd_attach_initialize(void);

#endif
