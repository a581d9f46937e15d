/* Slots of the interpreter's own image, and of few libraries, in a process that may have to join a session later:
 * their functions look at a counter in shared memory and pass the call on. Nothing else of such a process is
 * patched.
 *
 * Only calls are taken that an interpreter makes as ordinary code, holding no lock of the C library or the loader:
 * opens, looked at before the call, and reads, after it: what comes next is the work that was read. Before dlsym it
 * looks for libraries that were loaded and read by threads of their own (hooks/reading_library.h): their opens are
 * taken, too.
 *
 * It is in the core and in the library that is loaded before it (joining/late_join.c), and each has slots of its
 * own. */
#ifndef TFD_LATE_ATTACH_H
#define TFD_LATE_ATTACH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hooks/elf_image.h"

/* What is known of the hooked functions where they have wrappers. */
struct tfd_late_attach_wrappers {
    void *const *wrapper;                                    /* of each hook */
    bool (*is_definition)(const void *value, unsigned hook); /* hooks/definitions.h */
    bool (*may_patch)(const struct tfd_image *image);
};

/* Finds the slots of the object that `address` lies in, and writes none. `notice` is called, in the process that
 * armed them, when the counter has another value than was seen, and is told whether a file is opened after it. Takes
 * the loader's locks; allocates no memory. */
void tfd_late_attach_prepare(const void *address, void (*notice)(bool opens));
/* None before this. */
void tfd_late_attach_watch(const _Atomic uint32_t *counter);
/* Patches them for the calling process. Allocates nothing and waits for nothing: for a child of fork. */
void tfd_late_attach_arm(void);
/* In a child of fork that is not to look. */
void tfd_late_attach_disarm(void);
/* Around a fork, so that no thread holds the lock of the loader's list for us: a child would find it held for good.
 * In a child that may find it held by others, no library is looked for. */
void tfd_late_attach_hold(void);
void tfd_late_attach_release(void);
void tfd_late_attach_release_in_child(bool may_look);
/* Lets calls go on through our wrappers, which are there. */
void tfd_late_attach_use_wrappers(const struct tfd_late_attach_wrappers *wrappers);
void tfd_late_attach_set_seen(uint32_t value);
/* What a slot held before it was taken; NULL: it is none of these, or holds something else. */
void *tfd_late_attach_found(void **slot);
/* Before they are prepared: of the library whose slots these take over. That goes on looking until they are armed, so
 * that no call passes in between. */
void tfd_late_attach_replace(void *(*found)(void **slot));
/* Puts back what was found; a slot that somebody else patched since is left to them. */
void tfd_late_attach_leave(void);
/* After that, calls that are in the middle go on to what their slots hold now. */
void tfd_late_attach_follow(void);
bool tfd_is_late_attach(const void *value, unsigned hook);

#endif
