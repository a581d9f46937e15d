#define _GNU_SOURCE
#include "tensorflow/tf_settings.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static struct tfd_tf_settings settings;
static bool enabled;
static atomic_int written;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void free_list(const char *const *list, size_t count)
{
    for (size_t i = 0; list && i < count; i++)
        free((char *)(uintptr_t)list[i]);
    free((void *)(uintptr_t)list);
}

static bool copy_list(const char *const *list, size_t count, const char *const **copy)
{
    char **made = calloc(count + 1, sizeof *made);
    bool complete = made;
    for (size_t i = 0; complete && i < count; i++)
        complete = (made[i] = strdup(list[i]));
    *copy = (const char *const *)made;
    return complete;
}

static void forget(void)
{
    free((char *)(uintptr_t)settings.options.spool_directory);
    free_list(settings.options.include, settings.options.include_count);
    free_list(settings.options.exclude, settings.options.exclude_count);
    memset(&settings, 0, sizeof settings);
    enabled = false;
}

static int copy(const struct tfd_options *options)
{
    settings.options = *options;
    settings.options.spool_directory = strdup(options->spool_directory);
    bool complete = settings.options.spool_directory;
    complete &= copy_list(options->include, options->include_count, &settings.options.include);
    complete &= copy_list(options->exclude, options->exclude_count, &settings.options.exclude);
    if (complete)
        return 0;
    forget();
    return tfd_fail(ENOMEM, "no memory for the options");
}

int tfd_tf_enable(const struct tfd_options *options, uint64_t smallest_bytes, uint64_t max_events)
{
    pthread_mutex_lock(&lock);
    forget();
    int status = copy(options);
    settings.smallest_bytes = smallest_bytes;
    settings.max_events = max_events ? max_events : TFD_TF_MAX_EVENTS;
    enabled = !status;
    pthread_mutex_unlock(&lock);
    return status;
}

void tfd_tf_disable(void)
{
    pthread_mutex_lock(&lock);
    forget();
    pthread_mutex_unlock(&lock);
}

const struct tfd_tf_settings *tfd_tf_settings_acquire(void)
{
    pthread_mutex_lock(&lock);
    return enabled ? &settings : NULL;
}

void tfd_tf_settings_release(void)
{
    pthread_mutex_unlock(&lock);
}

void tfd_tf_session_written(int is_written)
{
    atomic_store(&written, is_written);
}

bool tfd_tf_session_is_written(void)
{
    return atomic_load(&written);
}

void tfd_tf_settings_reset_in_child(void)
{
    if (pthread_mutex_trylock(&lock)) {
        /* another thread may have been copying them */
        memset(&settings, 0, sizeof settings);
        enabled = false;
    }
    pthread_mutex_init(&lock, NULL);
}
