/* A process records one session at a time. A second start fails with a message and does no harm, also from several
 * threads. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>

#include "recorded.h"

#define THREADS 8

static char path[PATH_MAX];
static const char *directory;
static _Atomic int started;
static pthread_barrier_t together;

static void read_once(void)
{
    char byte;
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && read(fd, &byte, 1) == 1 && close(fd) == 0);
}

static void check_second_start(void)
{
    struct tfd_attach_report report;
    struct tfd_options options = check_options(directory);
    CHECK_EQUAL(tfd_session_start(&options, &report), -EBUSY);
    CHECK(strstr(tfd_last_error(), "already recording"));
    CHECK_EQUAL(report.slots_patched, 0);
}

static void *start_at_once(void *unused)
{
    struct tfd_attach_report report;
    struct tfd_options options = check_options(directory);
    (void)unused;
    pthread_barrier_wait(&together);
    int status = tfd_session_start(&options, &report);
    CHECK(status == 0 || status == -EBUSY);
    atomic_fetch_add(&started, status == 0);
    read_once();
    return NULL;
}

static void check_concurrent_starts(void)
{
    pthread_t threads[THREADS];
    CHECK(pthread_barrier_init(&together, NULL, THREADS) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, start_at_once, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK_EQUAL(atomic_load(&started), 1);
    check_stop();
    check_drop_spool(directory, getpid());
}

int main(int argc, char **argv)
{
    struct tfd_attach_report report;
    CHECK(argc >= 2);
    directory = argv[1];
    check_make_file(path, directory, "data", 1);
    CHECK_EQUAL(tfd_session_stop(&report), -EINVAL);
    CHECK(strstr(tfd_last_error(), "no session"));
    check_start(directory);
    read_once();
    check_second_start();
    CHECK(tfd_session_active());
    read_once();
    check_stop();
    CHECK_EQUAL(tfd_session_stop(&report), -EINVAL);
    CHECK_EQUAL(recorded_here(directory, path, TFD_OP_READ).calls, 2);
    check_drop_spool(directory, getpid());
    check_concurrent_starts();
    return 0;
}
