/* Libraries whose own threads read files while Python waits in them: a server of tf.data service is one, in which
 * the interpreter itself opens nothing. */
#ifndef TFD_READING_LIBRARY_H
#define TFD_READING_LIBRARY_H

#include <stdbool.h>

#include "hooks/elf_image.h"

/* Gives one that is loaded and was not given before. Takes the loader's locks; where no library was loaded since it
 * gave none, it looks at one number. */
bool tfd_next_reading_library(struct tfd_image *image);

#endif
