#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tfdarshan.h"

#define PLACES 64 /* threads whose last failures are kept at one time */

/* Not one for each thread: the loader gives such a library's variables of threads their place in room of 1.6 KB that it
 * keeps for all libraries of a process, and refuses those that find none. */
static char sentences[PLACES][512];
static _Atomic uint32_t failures;
static __thread uint32_t own_failure; /* of this thread, counted from 1; 0: none */

static char *sentence_of(uint32_t failure)
{
    return sentences[failure % PLACES];
}

int tfd_fail(int error, const char *format, ...)
{
    int saved_errno = errno;
    va_list arguments;
    va_start(arguments, format);
    own_failure = atomic_fetch_add(&failures, 1) + 1;
    vsnprintf(sentence_of(own_failure), sizeof *sentences, format, arguments);
    va_end(arguments);
    errno = saved_errno;
    return -error;
}

const char *tfd_last_error(void)
{
    return own_failure ? sentence_of(own_failure) : "";
}
