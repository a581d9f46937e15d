/* Which paths lie on the emulated storage. */
#ifndef TFD_EMULATED_PATHS_H
#define TFD_EMULATED_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Set patterns like those of tfd_options; return 0, or -errno with tfd_last_error(). */
int tfd_emulated_paths_set(const char *const *paths, size_t count);
/* Return true if the path lies on the emulated storage. Without patterns every recorded path does. */
bool tfd_is_emulated_path(const char *path, size_t length);

/* Patterns in a file, each with its NUL: their size in bytes, and functions to write and read them at offset `at`,
 * which return 0 or -errno. */
size_t tfd_emulated_paths_bytes(void);
int tfd_emulated_paths_write(int fd, off_t at);
int tfd_emulated_paths_read(int fd, off_t at, size_t bytes);

#endif
