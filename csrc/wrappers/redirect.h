/* Staged files: opens for reading are led to a file's copy on a faster tier, where that copy is still good.
 *
 * An original is looked at before its copy is read, and not again for a while (`trusted_ns`): on slow storage a look
 * takes as long as an open. Processes of ours may look first, while the program starts (original_look.h). What the
 * job itself opens for writing, renames or deletes is looked at each time.
 *
 * Stats are not led to copies. A copy has another inode number, device and time of change, which programs compare
 * (samefile(3p), caches, what was opened against what was asked for). Answers of the original that were kept would
 * hide what happened to it since; calls that are not hooked (chmod, utimensat) and other processes change it, too.
 *
 * Forks inherit the table of files; programs that join the session find it in the spool folder. */
#ifndef TFD_REDIRECT_H
#define TFD_REDIRECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct tfd_redirected; /* a file that has a copy */

/* The file that opening `path` with `flags` would read and that has a copy; NULL for every other open. Makes no
 * system call for absolute paths, allocates nothing, and keeps errno. */
struct tfd_redirected *tfd_redirect_find(const char *path, int flags);
/* Where the copy is. */
const char *tfd_redirect_copy(const struct tfd_redirected *file);
/* For tfd_record_open_again. */
_Atomic uint64_t *tfd_redirect_kept(struct tfd_redirected *file);
/* Whether the original is still what was copied, and `fd` the copy that was made of it. Counts the answer and
 * keeps errno; fd may be negative. A look at the original by any process that uses the table holds for a while. */
bool tfd_redirect_is_good(struct tfd_redirected *file, int fd);
/* Before a call that changes what is there by that name, or takes it away: from now on each open looks at the
 * original. Keeps errno; allocates nothing; `path` may be NULL, and any file's. */
void tfd_redirect_changes(const char *path);
/* The same, of a path that may be looked up from another folder than the current one: that is for a look to find. */
void tfd_redirect_changes_at(int dirfd, const char *path);

/* In a program that has joined a session: takes up the staged files that its owner has, if any. */
void tfd_redirect_join(const char *directory);

#endif
