#ifndef TFD_WHOLE_FILE_H
#define TFD_WHOLE_FILE_H

/* Return the text of a file, which the caller frees: "" if it cannot be read, NULL if there is no memory. */
char *tfd_read_whole(const char *path);

#endif
