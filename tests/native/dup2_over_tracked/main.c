/* dup2() over a tracked descriptor changes the meaning of its number. Duplicates share a position. */
#define _GNU_SOURCE
#include "recorded.h"

static char a_path[PATH_MAX], b_path[PATH_MAX];

struct expected {
    const char *path;
    int64_t offset, length;
};

struct list {
    const struct tfd_spool *spool;
    const struct expected *next;
};

static void check_next(void *context, const struct tfd_thread *thread, const struct tfd_event *event)
{
    (void)thread;
    struct list *list = context;
    if (event->operation != TFD_OP_READ)
        return;
    CHECK(recorded_is_of(list->spool, event, list->next->path));
    CHECK_EQUAL(event->offset, list->next->offset);
    CHECK_EQUAL(event->length, list->next->length);
    list->next++;
}

static void read_bytes(int fd, size_t bytes)
{
    char buffer[1000];
    CHECK_EQUAL(read(fd, buffer, bytes), bytes);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    check_make_file(a_path, argv[1], "a", 1000);
    check_make_file(b_path, argv[1], "b", 1000);
    const struct expected reads[] = {
        {a_path, 0, 10},  {b_path, 0, 20}, {b_path, 20, 30}, {b_path, 50, 5},
        {b_path, 55, 40}, {a_path, 0, 7},  {b_path, 95, 8},  {a_path, 7, 9},
    };
    check_start(argv[1]);
    int a = open(a_path, O_RDONLY), b = open(b_path, O_RDONLY);
    read_bytes(a, 10);
    read_bytes(b, 20);
    CHECK_EQUAL(dup2(b, a), a);
    read_bytes(a, 30);
    CHECK(close(b) == 0); /* a goes on with b's file and position */
    int copy = fcntl(a, F_DUPFD, 50);
    CHECK(copy >= 50);
    read_bytes(copy, 5);
    CHECK_EQUAL(dup3(copy, 60, O_CLOEXEC), 60);
    read_bytes(60, 40);
    int fresh = open(a_path, O_RDONLY);
    CHECK(dup2(-1, fresh) < 0 && errno == EBADF); /* leaves the target open */
    read_bytes(fresh, 7);
    CHECK_EQUAL(dup2(copy, copy), copy);
    read_bytes(copy, 8);
    CHECK_EQUAL(dup2(fresh, copy), copy);
    read_bytes(copy, 9);
    check_stop();
    struct tfd_spool spool = recorded_open(argv[1], getpid());
    struct list list = {&spool, reads};
    recorded_for_each(&spool, check_next, &list);
    CHECK_EQUAL(list.next - reads, sizeof reads / sizeof *reads);
    recorded_close(&spool);
    return 0;
}
