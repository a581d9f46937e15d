/* Names below /proc and /dev that lead to a file elsewhere: /dev/stdin, /dev/fd/3, /proc/self/cwd/name. */
#ifndef TFD_LINKS_OF_KERNEL_H
#define TFD_LINKS_OF_KERNEL_H

#include <stddef.h>

/* Makes `path`, which has room for `room` bytes, the name of the file. Its length; 0 where the path leads nowhere
 * else, whose bytes may then have changed. Caller holds tfd_tables_lock. */
size_t tfd_follow_links_of_kernel(char *path, size_t length, size_t room);

#endif
