#ifndef TFD_WHOLE_FILE_H
#define TFD_WHOLE_FILE_H

/* The text of a file, which the caller frees: "" where it cannot be read, NULL without memory. */
char *tfd_read_whole(const char *path);

#endif
