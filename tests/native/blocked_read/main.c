/* A session ends, and others begin and end, while a thread waits inside read(). Stop does not wait for it, and the call
 * finds valid memory when it returns later. */
#define _GNU_SOURCE
#include <pthread.h>

#include "children.h"
#include "recorded.h"

#define STOP_AT_MOST_NS 200000000

static int ends[2];

static void *wait_for_byte(void *unused)
{
    char byte;
    (void)unused;
    CHECK(read(ends[0], &byte, 1) == 1 && byte == 'x');
    CHECK(pread(ends[0], &byte, 1, 0) < 0 && errno == ESPIPE);
    return NULL;
}

/* Gives it some 20 ms to be inside the call. */
static pthread_t start_blocked_thread(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, wait_for_byte, NULL) == 0);
    for (int i = 0; i < 100; i++)
        child_pause();
    return thread;
}

static void stop_quickly(void)
{
    int64_t start_ns = child_now_ns();
    check_stop();
    CHECK(child_now_ns() - start_ns < STOP_AT_MOST_NS);
}

static void let_go(pthread_t thread)
{
    CHECK(write(ends[1], "x", 1) == 1);
    CHECK(pthread_join(thread, NULL) == 0);
}

static int64_t pipe_reads(const char *directory)
{
    struct tfd_spool spool = recorded_open(directory, getpid());
    int64_t calls = recorded_other(&spool, TFD_OTHER_PIPE).reads;
    recorded_close(&spool);
    check_drop_spool(directory, getpid());
    return calls;
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    CHECK(pipe(ends) == 0);

    check_start(argv[1]);
    pthread_t returns_detached = start_blocked_thread();
    stop_quickly();
    let_go(returns_detached);
    CHECK_EQUAL(pipe_reads(argv[1]), 0);

    check_start(argv[1]);
    pthread_t returns_in_next = start_blocked_thread();
    stop_quickly();
    check_drop_spool(argv[1], getpid());
    check_start(argv[1]);
    let_go(returns_in_next);
    stop_quickly();
    CHECK(pipe_reads(argv[1]) >= 1);
    return 0;
}
