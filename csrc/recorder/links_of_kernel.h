/* Names below /proc and /dev that lead to a file elsewhere: /dev/stdin, /dev/fd/3, /proc/self/cwd/name. */
#ifndef TFD_LINKS_OF_KERNEL_H
#define TFD_LINKS_OF_KERNEL_H

#include <stddef.h>

/* Replace `path`, which has room for `room` bytes, by the file's name; return its length, 0 if the path leads to no
 * other file, and then its bytes may have changed. The caller holds tfd_tables_lock. */
size_t tfd_follow_links_of_kernel(char *path, size_t length, size_t room);

#endif
