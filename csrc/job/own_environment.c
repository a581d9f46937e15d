#define _GNU_SOURCE
#include "job/own_environment.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job/session_name.h"

#define SPARE 64 /* places for variables that the program sets later */

static char **own;        /* the last array that replaced the environment's */
static size_t own_places; /* of `own` */
static char *job_alone;   /* setting to restore after the session; NULL: no job was named */
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

static char **place_of(const char *name)
{
    size_t length = strlen(name);
    char **place = environ;
    while (place && *place && (strncmp(*place, name, length) || (*place)[length] != '='))
        place++;
    return place && *place ? place : NULL;
}

static bool append(char *setting)
{
    size_t count = count_of(environ);
    if (environ == own && count + 2 <= own_places) {
        __atomic_store_n(&own[count], setting, __ATOMIC_RELEASE); /* the next place is NULL already */
        return true;
    }
    char **larger = calloc(count + 2 + SPARE, sizeof *larger);
    if (!larger)
        return false;
    memcpy(larger, environ, count * sizeof *larger);
    larger[count] = setting;
    own = larger;
    own_places = count + 2 + SPARE;
    publish(own);
    return true;
}

/* Put a setting into the environment; return false if there is no memory. Texts are never freed: the program may have
 * kept a pointer to one. */
static bool put(char *setting)
{
    char **place = setting ? place_of(TFD_SESSION_VARIABLE) : NULL;
    if (place)
        __atomic_store_n(place, setting, __ATOMIC_RELEASE);
    else if (!setting || !append(setting)) {
        free(setting);
        return false;
    }
    return true;
}

static void set_library(struct tfd_session_name *name, const char *path)
{
    name->library = path;
    name->library_length = strchr(path, ':') ? 0 : (int)strlen(path);
}

/* Name the library that lets starting interpreters wait for the next session. */
static void name_waiting_library(struct tfd_session_name *name, char *path, size_t capacity)
{
    set_library(name, tfd_session_name_beside(name, TFD_WAITING_LIBRARY, path, capacity) ? path : "");
}

bool tfd_environment_name_job(const char *job, const char *core_path)
{
    char path[PATH_MAX];
    struct tfd_session_name name;
    tfd_session_name_read(getenv(TFD_SESSION_VARIABLE), &name);
    name.job = job;
    name.job_length = (int)strlen(job);
    set_library(&name, core_path);
    if (!name.spool_folder)
        name_waiting_library(&name, path, sizeof path);
    return put(tfd_session_name_setting(&name));
}

static char *without_session(struct tfd_session_name name)
{
    char path[PATH_MAX];
    name.spool_folder = NULL;
    name_waiting_library(&name, path, sizeof path);
    return name.job_length ? tfd_session_name_setting(&name) : NULL;
}

bool tfd_environment_offer(const char *core_path, const char *spool_folder, const char *library)
{
    struct tfd_session_name name;
    char *path = library ? strdup(library) : NULL;
    tfd_session_name_read(getenv(TFD_SESSION_VARIABLE), &name);
    char *alone = without_session(name);
    name.spool_folder = spool_folder;
    set_library(&name, core_path);
    char *setting = tfd_session_name_setting(&name);
    if (!put(setting)) {
        free(alone);
        free(path);
        return false;
    }
    free(job_alone);
    job_alone = alone;
    atomic_store(&offered_library, path);
    atomic_store(&offered, setting);
    return true;
}

void tfd_environment_withdraw(void)
{
    atomic_store(&offered_library, NULL);
    if (!atomic_exchange(&offered, NULL))
        return;
    if (job_alone)
        put(job_alone);
    else
        unsetenv(TFD_SESSION_VARIABLE); /* moves pointers and frees nothing */
    job_alone = NULL;
}

const char *tfd_environment_offered(void)
{
    return atomic_load(&offered);
}

bool tfd_environment_lacks_offer(void)
{
    const char *setting = atomic_load(&offered), *there = getenv(TFD_SESSION_VARIABLE);
    return setting && (!there || strcmp(there, setting + sizeof TFD_SESSION_VARIABLE));
}

const char *tfd_environment_offered_folder(void)
{
    struct tfd_session_name name;
    const char *setting = atomic_load(&offered);
    tfd_session_name_read(setting, &name);
    return name.spool_folder;
}

const char *tfd_environment_library(void)
{
    return atomic_load(&offered_library);
}
