#define _GNU_SOURCE
#include "base/own_environment.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SPARE 64 /* places for what a program sets later */

static char **own;        /* the array that was put in place last */
static size_t own_places; /* of it */
static _Atomic(const char *) offered;

static size_t count_of(char **variables)
{
    size_t count = 0;
    while (variables && variables[count])
        count++;
    return count;
}

static void publish(char **variables)
{
    __atomic_store_n(&environ, variables, __ATOMIC_RELEASE);
}

/* The text stays for good, too: somebody may have taken a pointer to it. */
bool tfd_environment_offer(const char *directory)
{
    char *text = NULL;
    if (asprintf(&text, TFD_SESSION_VARIABLE "=%s", directory) < 0)
        return false;
    unsetenv(TFD_SESSION_VARIABLE); /* one that this process was given, of a session that is over */
    size_t count = count_of(environ);
    if (environ != own || count + 2 > own_places) {
        char **larger = calloc(count + 2 + SPARE, sizeof *larger);
        if (!larger) {
            free(text);
            return false;
        }
        memcpy(larger, environ, count * sizeof *larger);
        larger[count] = text;
        own = larger;
        own_places = count + 2 + SPARE;
        publish(own);
    } else {
        __atomic_store_n(&own[count], text, __ATOMIC_RELEASE); /* behind it is NULL already */
    }
    atomic_store(&offered, text);
    return true;
}

void tfd_environment_withdraw(void)
{
    if (atomic_exchange(&offered, NULL))
        unsetenv(TFD_SESSION_VARIABLE); /* moves pointers, frees nothing */
}

const char *tfd_environment_offered(void)
{
    return atomic_load(&offered);
}
