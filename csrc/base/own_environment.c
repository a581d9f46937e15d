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
static _Atomic(const char *) offered_library;

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

/* False where there is no memory for a larger array. */
static bool put_into_environment(const char *name, char *text)
{
    unsetenv(name); /* one that this process was given, of what is over; moves pointers, frees nothing */
    size_t count = count_of(environ);
    if (environ == own && count + 2 <= own_places) {
        __atomic_store_n(&own[count], text, __ATOMIC_RELEASE); /* behind it is NULL already */
        return true;
    }
    char **larger = calloc(count + 2 + SPARE, sizeof *larger);
    if (!larger)
        return false;
    memcpy(larger, environ, count * sizeof *larger);
    larger[count] = text;
    own = larger;
    own_places = count + 2 + SPARE;
    publish(own);
    return true;
}

bool tfd_environment_set(const char *name, const char *value)
{
    char *text = NULL;
    bool is_set = asprintf(&text, "%s=%s", name, value) >= 0 && put_into_environment(name, text);
    if (!is_set)
        free(text);
    return is_set;
}

/* The texts stay for good, too: somebody may have taken a pointer to them. */
bool tfd_environment_offer(const char *directory, const char *library)
{
    char *text = NULL, *path = library ? strdup(library) : NULL;
    const char *there = getenv(TFD_SESSION_VARIABLE);
    if (asprintf(&text, TFD_SESSION_VARIABLE "=%s", directory) < 0)
        return false;
    if ((!there || strcmp(there, directory)) && !put_into_environment(TFD_SESSION_VARIABLE, text)) {
        free(text);
        return false;
    }
    atomic_store(&offered_library, path);
    atomic_store(&offered, text);
    return true;
}

void tfd_environment_withdraw(void)
{
    atomic_store(&offered_library, NULL);
    if (atomic_exchange(&offered, NULL))
        unsetenv(TFD_SESSION_VARIABLE); /* moves pointers, frees nothing */
}

const char *tfd_environment_offered(void)
{
    return atomic_load(&offered);
}

const char *tfd_environment_library(void)
{
    return atomic_load(&offered_library);
}
