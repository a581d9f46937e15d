/* Does what TensorFlow does with a profiler plug-in: registers it, and runs sessions that end in every way. */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "check.h"
#include "tensorflow/tf_profiler_api.h"

#define READS 30
#define MAX_EVENTS 10

static char path[PATH_MAX];
static const char *directory;
static struct tp_profiler profiler;
static struct tp_functions functions;

static struct tp_registration registration(void)
{
    profiler = (struct tp_profiler){.struct_size = sizeof profiler};
    functions = (struct tp_functions){.struct_size = sizeof functions};
    return (struct tp_registration){.struct_size = sizeof(struct tp_registration),
                                    .patch = 1,
                                    .profiler = &profiler,
                                    .functions = &functions};
}

static void check_other_interfaces_are_left_alone(void)
{
    struct tp_registration newer = registration(), smaller = registration();
    newer.major = 1;
    TF_InitProfiler(&newer, NULL);
    CHECK(!functions.start && !profiler.device_type && !newer.destroy_profiler);
    smaller.struct_size = offsetof(struct tp_registration, destroy_functions);
    TF_InitProfiler(&smaller, NULL);
    CHECK(!functions.start && !profiler.device_type);
    functions.struct_size = offsetof(struct tp_functions, collect);
    smaller.struct_size = sizeof smaller;
    TF_InitProfiler(&smaller, NULL);
    CHECK(!functions.start);
    CHECK_EQUAL(tfd_tf_registered(), 0);
}

static void register_plugin(void)
{
    struct tp_registration mine = registration();
    TF_InitProfiler(&mine, NULL);
    CHECK(functions.start && functions.stop && functions.collect);
    CHECK(mine.destroy_profiler && mine.destroy_functions && profiler.device_type);
    CHECK_EQUAL(tfd_tf_registered(), 1);
    mine.destroy_profiler(&profiler);
    mine.destroy_functions(&functions);
}

static void enable(const char *folder, uint64_t smallest_bytes)
{
    struct tfd_options options = check_options(folder);
    const char *exclude[] = {"*/nothing", "*.never"};
    options.exclude = exclude;
    options.exclude_count = 2;
    CHECK_EQUAL(tfd_tf_enable(&options, smallest_bytes, MAX_EVENTS), 0);
}

static void read_file(void)
{
    char byte;
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0);
    for (int i = 0; i < READS; i++)
        CHECK_EQUAL(pread(fd, &byte, 1, i), 1);
    CHECK(close(fd) == 0);
}

/* The planes of the session that ended; the caller frees them. */
static uint8_t *collect(size_t *size)
{
    functions.collect(&profiler, NULL, size, NULL);
    uint8_t *planes = malloc(*size + 1);
    CHECK(planes);
    if (*size)
        functions.collect(&profiler, planes, size, NULL);
    return planes;
}

static bool holds(const uint8_t *planes, size_t size, const char *text)
{
    return memmem(planes, size, text, strlen(text));
}

static int spools_left(void)
{
    int count = 0;
    DIR *folder = opendir(directory);
    CHECK(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        count += strncmp(entry->d_name, "tfdarshan-", 10) == 0;
    closedir(folder);
    return count;
}

static struct tfd_tf_report last(void)
{
    struct tfd_tf_report report;
    CHECK_EQUAL(tfd_tf_last_session(&report), 0);
    return report;
}

static void check_clean(void)
{
    CHECK(!tfd_session_active());
    CHECK_EQUAL(tfd_slots_holding_wrappers(), 0);
    CHECK_EQUAL(spools_left(), 0);
}

/* The longest are drawn, the others counted, and the session goes with the trace. */
static void check_session(void)
{
    size_t size;
    functions.start(&profiler, NULL);
    CHECK(last().recording);
    read_file();
    functions.stop(&profiler, NULL);
    CHECK(!last().recording);
    uint8_t *planes = collect(&size);
    CHECK(holds(planes, size, "/device:CUSTOM:I/O") && holds(planes, size, path));
    CHECK(holds(planes, size, "/tfdarshan") && holds(planes, size, "file numbers"));
    CHECK(holds(planes, size, "the 10 longest of 32 operations are drawn, 22 are left out."));
    CHECK_EQUAL(last().events, MAX_EVENTS);
    CHECK_EQUAL(last().left_out, READS + 2 - MAX_EVENTS);
    free(planes);
    functions.collect(&profiler, NULL, &size, NULL);
    CHECK_EQUAL(size, 0);
    check_clean();
}

/* A recording that runs already is shown, and goes on; its spool may be gone when the trace is collected. */
static void check_joined(void)
{
    size_t size;
    check_start(directory);
    read_file();
    tfd_tf_session_written(1);
    functions.start(&profiler, NULL);
    CHECK(last().joined && !last().recording);
    read_file();
    functions.stop(&profiler, NULL);
    read_file();
    CHECK(tfd_session_active());
    check_stop();
    check_drop_spool(directory, getpid());
    uint8_t *planes = collect(&size);
    tfd_tf_session_written(0);
    CHECK(holds(planes, size, path) && !holds(planes, size, "file numbers"));
    CHECK_EQUAL(last().events + last().left_out, READS + 2);
    CHECK(last().start_ns > 0 && last().end_ns > last().start_ns);
    free(planes);
    check_clean();
}

static void check_not_collected(void)
{
    functions.start(&profiler, NULL);
    read_file();
    functions.stop(&profiler, NULL);
    functions.start(&profiler, NULL);
    CHECK_EQUAL(spools_left(), 1);
    CHECK_EQUAL(last().recording, 1);
    functions.start(&profiler, NULL); /* stop was forgotten */
    CHECK_EQUAL(spools_left(), 1);
    size_t size;
    functions.stop(&profiler, NULL);
    free(collect(&size));
    check_clean();
}

/* Why there is nothing is said where people look. */
static void check_failures(void)
{
    size_t size;
    enable("/nowhere", 1);
    functions.start(&profiler, NULL);
    functions.stop(&profiler, NULL);
    uint8_t *planes = collect(&size);
    CHECK(holds(planes, size, "this profile has no I/O: the spool folder /nowhere cannot be used"));
    free(planes);
    enable(directory, UINT64_MAX);
    functions.start(&profiler, NULL);
    functions.stop(&profiler, NULL);
    planes = collect(&size);
    CHECK(holds(planes, size, "MiB free"));
    free(planes);
    tfd_tf_disable();
    functions.start(&profiler, NULL);
    read_file();
    functions.stop(&profiler, NULL);
    functions.collect(&profiler, NULL, &size, NULL);
    CHECK_EQUAL(size, 0);
    check_clean();
}

/* A child has no session of TensorFlow's, and leaves its parent's alone. */
static void check_fork(void)
{
    size_t size;
    functions.start(&profiler, NULL);
    read_file();
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        read_file();
        functions.stop(&profiler, NULL);
        functions.collect(&profiler, NULL, &size, NULL);
        _exit(size != 0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(tfd_session_active());
    functions.stop(&profiler, NULL);
    free(collect(&size));
    CHECK_EQUAL(last().events + last().left_out, READS + 2);
    check_clean();
}

static void *profile_on(void *stop)
{
    while (!atomic_load((atomic_bool *)stop)) {
        size_t size;
        functions.start(&profiler, NULL);
        read_file();
        functions.stop(&profiler, NULL);
        free(collect(&size));
    }
    return NULL;
}

/* A child may be made while another thread starts, stops or collects: it can do so itself. */
static void check_fork_at_any_moment(long children)
{
    pthread_t thread;
    atomic_bool stop = false;
    CHECK(!pthread_create(&thread, NULL, profile_on, &stop));
    for (; children > 0; children--) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            alarm(20);
            last();
            enable(directory, 1);
            functions.start(&profiler, NULL);
            functions.stop(&profiler, NULL);
            size_t size;
            free(collect(&size));
            _exit(0);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    atomic_store(&stop, true);
    CHECK(!pthread_join(thread, NULL));
    check_clean();
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    directory = argv[1];
    check_make_file(path, directory, "data", READS);
    check_other_interfaces_are_left_alone();
    register_plugin();
    enable(directory, 1);
    for (long repeats = check_repeats(argc, argv, 200); repeats-- > 0;)
        check_session();
    check_joined();
    check_not_collected();
    check_fork();
    check_fork_at_any_moment(check_repeats(argc, argv, 200) / 5 + 1);
    check_failures();
    enable(directory, 1);
    functions.start(&profiler, NULL);
    read_file();
    return 0; /* in the middle of a session */
}
