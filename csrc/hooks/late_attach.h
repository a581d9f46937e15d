/* Patched slots of a process that may join a session later: of the interpreter's own image and of few libraries. Their
 * functions compare a counter in shared memory and pass the call on. Nothing else of such a process is patched.
 *
 * Only calls are patched that an interpreter makes as ordinary code, holding no lock of the C library or the loader.
 * Opens check the counter before the call. Reads check it afterwards, since the work that was read comes next. dlsym
 * first looks for loaded libraries whose own threads read files (hooks/reading_library.h), and patches their opens.
 *
 * Both the core and the library that is loaded before it (joining/late_join.c) have this file, each with its own
 * slots. */
#ifndef TFD_LATE_ATTACH_H
#define TFD_LATE_ATTACH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hooks/elf_image.h"

/* The wrappers of hooked functions, and which slots may take them. */
struct tfd_late_attach_wrappers {
    void *const *wrapper;                                    /* of each hook */
    bool (*is_definition)(const void *value, unsigned hook); /* hooks/definitions.h */
    bool (*may_patch)(const struct tfd_image *image);
};

/* Find the slots of the object that `address` lies in, without writing them. `notice` is called in the process that
 * armed the slots, once the counter differs from the value last seen; `opens` is true before an open. Takes the
 * loader's locks; allocates no memory. */
void tfd_late_attach_prepare(const void *address, void (*notice)(bool opens));
/* Compare this counter from now on. */
void tfd_late_attach_watch(const _Atomic uint32_t *counter);
/* Patch the slots for the calling process. It neither allocates nor waits, so a child of fork may call it. */
void tfd_late_attach_arm(void);
/* Call this in a child of fork that shall not compare the counter. */
void tfd_late_attach_disarm(void);
/* Call these around a fork, so that no thread of ours holds the lock of the loader's list: it would stay held in the
 * child. A child where other threads may have held it (`may_look` is false) looks for no libraries. */
void tfd_late_attach_hold(void);
void tfd_late_attach_release(void);
void tfd_late_attach_release_in_child(bool may_look);
/* Pass calls on to our wrappers from now on. */
void tfd_late_attach_use_wrappers(const struct tfd_late_attach_wrappers *wrappers);
void tfd_late_attach_set_seen(uint32_t value);
/* Return what a slot held before it was patched; NULL if it is not one of these slots, or holds another value now. */
void *tfd_late_attach_found(void **slot);
/* Call this before tfd_late_attach_prepare() with that function of the library that this one replaces. That library
 * keeps its slots until these are armed, so that no call is missed in between. */
void tfd_late_attach_replace(void *(*found)(void **slot));
/* Restore the slots; one that another tool has patched since is left alone. */
void tfd_late_attach_leave(void);
/* After that, calls under way go on to what their slots hold now. */
void tfd_late_attach_follow(void);
bool tfd_is_late_attach(const void *value, unsigned hook);

#endif
