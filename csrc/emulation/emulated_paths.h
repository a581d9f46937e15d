/* Which paths lie on the emulated storage. */
#ifndef TFD_EMULATED_PATHS_H
#define TFD_EMULATED_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Patterns as those of tfd_options. 0 or -errno with tfd_last_error(). */
int tfd_emulated_paths_set(const char *const *paths, size_t count);
/* Without patterns: every path that is recorded. */
bool tfd_is_emulated_path(const char *path, size_t length);

/* In a file, each with its NUL: how many bytes they take; writes and reads them from `at` on. 0 or -errno. */
size_t tfd_emulated_paths_bytes(void);
int tfd_emulated_paths_write(int fd, off_t at);
int tfd_emulated_paths_read(int fd, off_t at, size_t bytes);

#endif
