#ifndef TFD_WHOLE_FILE_H
#define TFD_WHOLE_FILE_H

/* Return the text of a file, which the caller frees; NULL if it cannot be read to its end. */
char *tfd_read_whole(const char *path);

#endif
