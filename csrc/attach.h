/* Starts and stops sessions: the one place that knows the order of things. */
#ifndef TFD_ATTACH_H
#define TFD_ATTACH_H

/* Clocks, tables and fork handlers, once per process. */
int tfd_attach_initialize(void);
/* Has `reset` called in each forked child, by the same handler and behind what a session consists of. */
void tfd_attach_set_reset_in_child(void (*reset)(void));

#endif
