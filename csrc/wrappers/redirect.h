/* Staged files: opens for reading are redirected to a file's copy on a faster tier, if that copy is still valid.
 *
 * An original is checked before its copy is read, and not again for `trusted_ns`: on slow storage a check takes as long
 * as an open. Processes of ours may check first, while the program starts (original_look.h). Files that the job itself
 * opens for writing, renames or deletes are checked each time.
 *
 * stat() calls are not redirected. A copy has another inode number, device and time of change, which programs compare
 * (samefile, caches, an opened file with the file asked for). Kept answers of the original would hide later changes:
 * other processes change it, and so do calls that are not hooked (chmod, utimensat).
 *
 * Forks inherit the table of files; programs that join the session find it in the spool folder. */
#ifndef TFD_REDIRECT_H
#define TFD_REDIRECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct tfd_redirected; /* a file that has a copy */

/* Return the file that an open of `path` with `flags` would read, if it has a copy; NULL for every other open. Makes no
 * system call for absolute paths, allocates nothing, and keeps errno. */
struct tfd_redirected *tfd_redirect_find(const char *path, int flags);
/* Return the copy's path. */
const char *tfd_redirect_copy(const struct tfd_redirected *file);
/* For tfd_record_open_again. */
_Atomic uint64_t *tfd_redirect_kept(struct tfd_redirected *file);
/* Return true if the original is unchanged and `fd`, which may be negative, is the copy that was made of it. Counts the
 * answer and keeps errno. A check by any process that uses the table holds for `trusted_ns`. */
bool tfd_redirect_is_good(struct tfd_redirected *file, int fd);
/* Have each open check the original from now on. Call this before a call that changes or removes the file of that name.
 * Keeps errno and allocates nothing. `path` may be NULL, or any path. */
void tfd_redirect_changes(const char *path);
/* The same for a path that is relative to `dirfd`. */
void tfd_redirect_changes_at(int dirfd, const char *path);
/* The same for both paths of a rename, and for all files below them if it is a folder's. */
void tfd_redirect_renames(int old_dirfd, const char *old_path, int new_dirfd, const char *new_path);

/* Use the staged files of the session's owner, if any. For a program that has joined a session. */
void tfd_redirect_join(const char *directory);

#endif
