/* Threads have the smallest possible stack, and signal handlers a usual alternate stack. The recorder must work with
 * what is left. */
#define _GNU_SOURCE
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "recorded.h"

#define ROUNDS 400               /* more events than the trace has room for, and its last chunk */
#define HANDLER_STACK_BYTES 8192 /* what SIGSTKSZ was for decades */

static char path[PATH_MAX], log_path[PATH_MAX];
static int opened_before;

/* Globs that no part of decides: they are matched with the whole path. */
static const char *const EXCLUDED[] = {"*/proc/*.[a-z]", "*/tfdarshan-*/*.spool", "*/?/[!x]*/y*"};

static void use_files(void)
{
    struct stat status;
    char byte;
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && read(fd, &byte, 1) == 1 && fstat(fd, &status) == 0);
    CHECK(stat(path, &status) == 0 && close(fd) == 0);
}

static void *use_files_often(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++)
        use_files();
    return NULL;
}

static void check_thread(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN)) == 0);
    CHECK(pthread_create(&thread, &attributes, use_files_often, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void on_signal(int signal)
{
    (void)signal;
    CHECK(write(opened_before, "x", 1) == 1);
    int log_fd = open(log_path, O_WRONLY | O_APPEND);
    CHECK(log_fd >= 0 && write(log_fd, "x", 1) == 1 && close(log_fd) == 0);
}

/* Below it is a page that nobody may touch. */
static void *handler_stack(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory =
        mmap(NULL, page + HANDLER_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED && mprotect(memory, page, PROT_NONE) == 0);
    return memory + page;
}

static void check_handler(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    CHECK(sigaltstack(&(stack_t){.ss_sp = handler_stack(), .ss_size = HANDLER_STACK_BYTES}, NULL) == 0);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    for (int i = 0; i < ROUNDS; i++)
        CHECK(raise(SIGUSR1) == 0);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    check_make_file(path, argv[1], "data", 100);
    check_make_file(log_path, argv[1], "log", 0);
    opened_before = open(log_path, O_WRONLY | O_APPEND);
    CHECK(opened_before >= 0);
    CHECK(setlocale(LC_ALL, "C.UTF-8"));
    struct tfd_options options = check_options(argv[1]);
    options.exclude = EXCLUDED;
    options.exclude_count = sizeof EXCLUDED / sizeof *EXCLUDED;
    options.trace_limit_bytes = 16u << 10; /* folds in the callers' threads */
    check_start_with(&options);
    check_handler();
    check_thread();
    check_stop();
    struct tfd_spool spool = recorded_open(argv[1], getpid());
    CHECK(recorded_dropped(&spool) > 0);
    CHECK_EQUAL(recorded_tally(&spool, NULL, -1).calls + recorded_dropped(&spool), ROUNDS * 9);
    recorded_close(&spool);
    return 0;
}
