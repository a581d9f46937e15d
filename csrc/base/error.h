/* The sentence behind tfd_last_error(). */
#ifndef TFD_ERROR_H
#define TFD_ERROR_H

/* Keep the sentence for the calling thread and return -error. Keeps errno. */
int tfd_fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
