/* Storage emulation: calls on chosen paths last as long as on another device.
 *
 * The wrappers' next functions become the ones in emulation.c while a session
 * with a storage model is attached; without one nothing is in the way. */
#ifndef TFD_EMULATION_H
#define TFD_EMULATION_H

/* Before a session attaches, and after it has detached. */
void tfd_emulation_install(void);
void tfd_emulation_remove(void);

/* Puts device and paths into the session's folder, for programs that join; nothing without a storage model. 0 or
 * -errno with tfd_last_error(). */
int tfd_emulation_offer(const char *directory);
/* Takes up what the session's owner offered, if anything, in place of an earlier session's. Likewise. */
int tfd_emulation_join(const char *directory);

#endif
