/* The bytes of a file that come into the page cache and leave it. */
#ifndef TFD_PAGE_CACHE_H
#define TFD_PAGE_CACHE_H

#include <stdbool.h>

#include "spool/mapped_file.h"

/* Look at a file that is mapped from now on. Its bytes stay unknown before Linux 6.5, and if the file is neither the
 * user's nor writable. */
void tfd_page_cache_begin(struct tfd_mapped_file *file, int fd);
/* Look again, and add the bytes that came in and that left since. */
void tfd_page_cache_look(struct tfd_mapped_file *file, int fd);

#endif
