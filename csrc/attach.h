/* Starts and stops sessions: the only file that knows in which order. */
#ifndef TFD_ATTACH_H
#define TFD_ATTACH_H

/* Set up clocks, tables and fork handlers, once per process; return 0 or -errno. */
int tfd_attach_initialize(void);
/* Call `reset` in each forked child, after the parts of a session were reset. */
void tfd_attach_set_reset_in_child(void (*reset)(void));

#endif
