#define _GNU_SOURCE
#include "offline/lmdb/failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int tfd_lmdb_fail(struct tfd_lmdb_error *error, int kind, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error->kind = kind;
    error->number = 0;
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return -1;
}

int tfd_lmdb_fail_system(struct tfd_lmdb_error *error, int number, const char *what)
{
    char text[128];
    tfd_lmdb_fail(error, TFD_LMDB_SYSTEM, "%s: %s", what, strerror_r(number, text, sizeof text));
    error->number = number;
    return -1;
}
