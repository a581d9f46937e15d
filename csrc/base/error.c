#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tfdarshan.h"

static __thread char sentence[512];

int tfd_fail(int error, const char *format, ...)
{
    int saved_errno = errno;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    errno = saved_errno;
    return -error;
}

const char *tfd_last_error(void)
{
    return sentence;
}
