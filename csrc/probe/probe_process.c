/* Calls that leave no event: they keep the recorder right. */
#define _GNU_SOURCE
#include "probe/probe_files.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_STATUS 7

tfd_vfork_function call_vfork __attribute__((returns_twice));

static bool ended_well(pid_t child)
{
    int status;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == EXIT_STATUS;
}

static bool probe_dlsym(struct probe_files *files)
{
    (void)files;
    return call_dlsym(RTLD_DEFAULT, "malloc") != NULL;
}

static bool probe_vfork(struct probe_files *files)
{
    (void)files;
    pid_t child = call_vfork();
    if (!child)
        syscall(SYS_exit, EXIT_STATUS);
    return ended_well(child);
}

static bool probe__exit(struct probe_files *files)
{
    (void)files;
    pid_t child = fork();
    if (!child)
        call__exit(EXIT_STATUS);
    return ended_well(child);
}

static bool probe__Exit(struct probe_files *files)
{
    (void)files;
    pid_t child = fork();
    if (!child)
        call__Exit(EXIT_STATUS);
    return ended_well(child);
}

const struct probe tfd_process_probes[] = {
    {"dlsym", (void *)call_dlsym, probe_dlsym, {{0}}},
    {"vfork", (void *)call_vfork, probe_vfork, {{0}}},
    {"_exit", (void *)call__exit, probe__exit, {{0}}},
    {"_Exit", (void *)call__Exit, probe__Exit, {{0}}},
    {0},
};
