#define _GNU_SOURCE
#include "device.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "block_cache.h"

enum { MOST_SLOTS = 256 };

/* Times in seconds, rates in bytes or operations a second; 0 is unlimited or free. */
static struct {
    double latency_s[REQUEST_KINDS];
    double concurrency;
    double bandwidth;
    double bucket_rate;
    double bucket_burst;
    double operations_per_s;
    double seek_s;
    double slow_for_s;
    double slow_every_s;
    double slow_times;
    double path_times;
    double server_cache;
    double page_cache;
    double refuses_direct;
    char slow_path[256];
} model = {.concurrency = 64, .slow_times = 1, .path_times = 1, .page_cache = 1};

static const struct {
    const char *name;
    double *value;
} words[] = {
    {"open_s", &model.latency_s[REQUEST_OPEN]},
    {"read_s", &model.latency_s[REQUEST_READ]},
    {"empty_read_s", &model.latency_s[REQUEST_EMPTY_READ]},
    {"stat_s", &model.latency_s[REQUEST_STAT]},
    {"write_s", &model.latency_s[REQUEST_WRITE]},
    {"sync_s", &model.latency_s[REQUEST_SYNC]},
    {"concurrency", &model.concurrency},
    {"bandwidth", &model.bandwidth},
    {"bucket_rate", &model.bucket_rate},
    {"bucket_burst", &model.bucket_burst},
    {"operations_per_s", &model.operations_per_s},
    {"seek_s", &model.seek_s},
    {"slow_for_s", &model.slow_for_s},
    {"slow_every_s", &model.slow_every_s},
    {"slow_times", &model.slow_times},
    {"path_times", &model.path_times},
    {"server_cache", &model.server_cache},
    {"page_cache", &model.page_cache},
    {"refuses_direct", &model.refuses_direct},
};

/* When each part of the device is free again, on the clock of now_s(). A request is given its times when it
 * comes: nothing has to be woken, and the order is that of arrival. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool begun;
static double begin_s; /* written before `begun` */
static double queue_free_s;
static double bucket_full_s; /* when the bucket has all of its tokens again */
static double slot_free_s[MOST_SLOTS];
static uint64_t last_file;
static off_t last_end;

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void sleep_until(double when_s)
{
    struct timespec until = {.tv_sec = (time_t)when_s};
    until.tv_nsec = (long)((when_s - (double)until.tv_sec) * 1e9);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

static double *value_named(const char *name)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i].name, name))
            return words[i].value;
    return NULL;
}

static bool describe_word(char *word)
{
    char *text = strchr(word, '=');
    if (text)
        *text++ = '\0';
    if (text && !strcmp(word, "slow_path")) {
        snprintf(model.slow_path, sizeof model.slow_path, "%s", text);
        return true;
    }
    double *value = value_named(word);
    char *end = text;
    if (value && text)
        *value = strtod(text, &end);
    if (value && text && end != text && !*end && *value >= 0)
        return true;
    fprintf(stderr, "slow_storage: no such word or no number: %s=%s\n", word, text ? text : "");
    return false;
}

bool device_describe(const char *line)
{
    char copy[4096];
    snprintf(copy, sizeof copy, "%s", line);
    char *rest = NULL;
    for (char *word = strtok_r(copy, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest))
        if (!describe_word(word))
            return false;
    if (model.concurrency < 1 || model.concurrency > MOST_SLOTS) {
        fprintf(stderr, "slow_storage: concurrency must be from 1 to %d\n", MOST_SLOTS);
        return false;
    }
    block_cache_create((size_t)model.server_cache);
    return true;
}

/* Called by a signal handler: no lock. */
void device_begin(void)
{
    begin_s = now_s();
    begun = true;
}

/* How many times longer than the model says: for the slow path, and while all is slow. */
static double times_longer(const char *path, double at_s)
{
    double times = 1;
    if (model.slow_path[0] && strstr(path, model.slow_path))
        times *= model.path_times;
    if (model.slow_every_s > 0) {
        double since_s = at_s - begin_s;
        double phase_s = since_s - model.slow_every_s * (double)(uint64_t)(since_s / model.slow_every_s);
        if (phase_s < model.slow_for_s)
            times *= model.slow_times;
    }
    return times;
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

/* The one queue: the operation itself, the arm's way, and the bytes. */
static double through_queue(const struct request *request, double at_s, double times)
{
    double takes_s = model.operations_per_s > 0 ? 1 / model.operations_per_s : 0;
    if (request->bytes) {
        bool goes_on = request->file == last_file && request->offset == last_end;
        takes_s += goes_on ? 0 : model.seek_s;
        takes_s += model.bandwidth > 0 ? (double)request->bytes / model.bandwidth : 0;
        last_file = request->file;
        last_end = request->offset + (off_t)request->bytes;
    }
    if (takes_s <= 0)
        return at_s;
    queue_free_s = later(queue_free_s, at_s) + takes_s * times;
    return queue_free_s;
}

static double through_bucket(const struct request *request, double at_s, double times)
{
    if (model.bucket_rate <= 0 || !request->bytes)
        return at_s;
    bucket_full_s = later(bucket_full_s, at_s) + (double)request->bytes / model.bucket_rate * times;
    return later(at_s, bucket_full_s - model.bucket_burst / model.bucket_rate);
}

static double through_slot(const struct request *request, double at_s, double times)
{
    double latency_s = model.latency_s[request->kind] * times;
    if (latency_s <= 0)
        return at_s;
    double *first = slot_free_s;
    for (double *slot = slot_free_s; slot < slot_free_s + (int)model.concurrency; slot++)
        if (*slot < *first)
            first = slot;
    *first = later(*first, at_s) + latency_s;
    return *first;
}

void device_pass(const struct request *request)
{
    if (!begun)
        return;
    pthread_mutex_lock(&lock);
    double at_s = now_s();
    double times = times_longer(request->path, at_s);
    double end_s = through_slot(request, through_queue(request, at_s, times), times);
    end_s = later(end_s, through_bucket(request, at_s, times));
    pthread_mutex_unlock(&lock);
    if (end_s > at_s)
        sleep_until(end_s);
}

size_t device_missing(uint64_t file, off_t offset, size_t bytes)
{
    pthread_mutex_lock(&lock);
    size_t missing = block_cache_take(file, offset, bytes);
    pthread_mutex_unlock(&lock);
    return missing;
}

bool device_keeps_pages(void)
{
    return model.page_cache > 0;
}

bool device_refuses_direct(void)
{
    return model.refuses_direct > 0;
}

/* Where asking for a file costs something, every question is asked. */
bool device_keeps_names(void)
{
    return model.latency_s[REQUEST_STAT] <= 0;
}
