/* What of a file is in the page cache. */
#ifndef TFD_PAGE_CACHE_H
#define TFD_PAGE_CACHE_H

#include <stdbool.h>

#include "spool/mapped_file.h"

/* Looks at a file that is mapped from now on. Where it cannot be told what came in (before Linux 6.5; a file that is
 * neither the user's nor may be written) its bytes are unknown from then on. */
void tfd_page_cache_begin(struct tfd_mapped_file *file, int fd);
/* Looks again, and adds what came in since, and what left. */
void tfd_page_cache_look(struct tfd_mapped_file *file, int fd);

#endif
