/* A process is killed while it records. Whatever the instruction, its spool holds every complete event unchanged,
 * and no other. The process is stepped through its recording, and its spool is read after each step. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "spool_builder.h"

/* One of each form, in a chunk that is empty at first and too small for all of them. */
static const struct tfd_event events[] = {
    {.start = 1000, .end = 1500, .offset = 7, .length = 13, .file = 2, .operation = TFD_OP_PREAD},
    {.start = 2000, .end = 2500, .offset = -1, .file = 2, .operation = TFD_OP_CLOSE, .error = 5},
    {.start = 500, .end = 3500, .offset = 1ll << 50, .length = 17, .file = 3, .operation = TFD_OP_PWRITE},
    {.start = 4000, .end = 4500, .offset = 8, .length = 14, .file = 2, .operation = TFD_OP_READ, .flags = 1},
};
#define EVENT_COUNT (sizeof events / sizeof *events)

static _Noreturn void record_and_exit(const char *directory)
{
    struct tfd_spool spool;
    builder_create(&spool, directory, 1u << 20);
    builder_file(&spool, "/data/a", TFD_NO_MOUNT);
    builder_file(&spool, "/data/b", TFD_NO_MOUNT);
    struct tfd_chunk *chunk = builder_chunk(&spool, builder_thread(&spool, 1), 256, true);
    CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
    raise(SIGSTOP);
    for (size_t i = 0; i < EVENT_COUNT; i++)
        CHECK(tfd_chunk_append(chunk, &events[i]));
    _exit(0);
}

/* Return how many events the spool holds, which must be the first ones. */
static uint64_t events_of(const char *path)
{
    static int64_t numbers[4][EVENT_COUNT + 1];
    static int32_t tids[EVENT_COUNT + 1];
    static uint32_t files[EVENT_COUNT + 1];
    static int16_t errors[EVENT_COUNT + 1];
    static uint8_t small[2][EVENT_COUNT + 1];
    struct tfd_event_batch batch = {numbers[0], numbers[1], tids,       small[0],  small[1],
                                    errors,     files,      numbers[2], numbers[3]};
    struct tfd_spool_info info;
    struct tfd_reader *reader = tfd_reader_open(path);
    CHECK(reader && tfd_reader_info(reader, &info) == 0 && !info.damaged);
    CHECK(tfd_reader_events(reader, 0, EVENT_COUNT + 1, &batch) == info.segments);
    CHECK(info.events == info.segments && info.events <= EVENT_COUNT);
    for (uint64_t i = 0; i < info.events; i++) {
        uint64_t match = 0; /* they are shown in order of their starts */
        while (match < info.events && (int64_t)events[match].start - BUILDER_START != numbers[0][i])
            match++;
        CHECK(match < info.events);
        const struct tfd_event *event = &events[match];
        CHECK_EQUAL(numbers[1][i] - numbers[0][i], (int64_t)(event->end - event->start));
        CHECK(small[0][i] == event->operation && small[1][i] == event->flags);
        CHECK(errors[i] == event->error && files[i] == event->file);
        CHECK(numbers[2][i] == event->offset && numbers[3][i] == event->length);
    }
    tfd_reader_close(reader);
    return info.events;
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    pid_t child = fork();
    if (child == 0)
        record_and_exit(argv[1]);
    char path[TFD_SPOOL_PATH_MAX];
    snprintf(path, sizeof path, "%s/%d.spool", argv[1], (int)child);
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
    uint64_t seen = events_of(path), steps = 0;
    CHECK_EQUAL(seen, 0);
    for (;; steps++) {
        CHECK(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) == 0);
        CHECK(waitpid(child, &status, 0) == child);
        if (WIFEXITED(status))
            break;
        uint64_t found = events_of(path);
        CHECK(found == seen || found == seen + 1);
        seen = found;
    }
    CHECK(WEXITSTATUS(status) == 0 && steps > 100);
    CHECK_EQUAL(events_of(path), EVENT_COUNT);
    return 0;
}
