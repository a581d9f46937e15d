/* Storage emulation: calls on chosen paths take as long as on another device.
 *
 * The wrappers' next functions become the ones in emulation.c while a session
 * with a storage model is attached. Other sessions have no cost from it. */
#ifndef TFD_EMULATION_H
#define TFD_EMULATION_H

/* Install before a session attaches, remove after it has detached. */
void tfd_emulation_install(void);
void tfd_emulation_remove(void);

/* Put device and paths into the session's folder for programs that join, if there is a storage model; return 0, or
 * -errno with tfd_last_error(). */
int tfd_emulation_offer(const char *directory);
/* Use the device and paths that the session's owner offers, if any, in place of an earlier session's; return 0, or
 * -errno with tfd_last_error(). */
int tfd_emulation_join(const char *directory);

#endif
