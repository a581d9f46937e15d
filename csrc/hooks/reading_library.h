/* Libraries whose own threads read files while Python waits in them. In a server of tf.data service, for example, the
 * interpreter itself opens no file. */
#ifndef TFD_READING_LIBRARY_H
#define TFD_READING_LIBRARY_H

#include <stdbool.h>

#include "hooks/elf_image.h"

/* Find the next such library that is loaded; return false if there is none left. Takes the loader's locks, unless no
 * library was loaded since it last returned false. */
bool tfd_next_reading_library(struct tfd_image *image);

#endif
