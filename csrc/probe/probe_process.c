/* Calls that leave no event: they keep the recorder's state right. */
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

#define SHELL "/bin/sh"
static char *const SHELL_ARGUMENTS[] = {"sh", "-c", "exit 7", NULL}; /* EXIT_STATUS */
static char *const NO_ENVIRONMENT[] = {NULL};

/* A child becomes another program by the call, or ends with another status if the call fails. */
#define PROBE_EXEC(symbol, call)                                                                             \
    static bool probe_##symbol(struct probe_files *files)                                                    \
    {                                                                                                        \
        (void)files;                                                                                         \
        pid_t child = fork();                                                                                \
        if (!child) {                                                                                        \
            call;                                                                                            \
            syscall(SYS_exit_group, 1);                                                                      \
        }                                                                                                    \
        return ended_well(child);                                                                            \
    }

PROBE_EXEC(execve, call_execve(SHELL, SHELL_ARGUMENTS, NO_ENVIRONMENT))
PROBE_EXEC(execvpe, call_execvpe(SHELL, SHELL_ARGUMENTS, NO_ENVIRONMENT))
PROBE_EXEC(execv, call_execv(SHELL, SHELL_ARGUMENTS))
PROBE_EXEC(execvp, call_execvp(SHELL, SHELL_ARGUMENTS))
PROBE_EXEC(execl, call_execl(SHELL, "sh", "-c", "exit 7", (char *)NULL))
PROBE_EXEC(execlp, call_execlp(SHELL, "sh", "-c", "exit 7", (char *)NULL))
PROBE_EXEC(execle, call_execle(SHELL, "sh", "-c", "exit 7", (char *)NULL, NO_ENVIRONMENT))
PROBE_EXEC(fexecve, call_fexecve(open(SHELL, O_RDONLY | O_CLOEXEC), SHELL_ARGUMENTS, NO_ENVIRONMENT))
PROBE_EXEC(execveat, call_execveat(AT_FDCWD, SHELL, SHELL_ARGUMENTS, NO_ENVIRONMENT, 0))

static bool probe_system(struct probe_files *files)
{
    (void)files;
    int status = call_system("exit 7");
    return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_STATUS;
}

static bool probe_popen(struct probe_files *files)
{
    (void)files;
    FILE *stream = call_popen("exit 7", "r");
    int status = stream ? pclose(stream) : -1;
    return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_STATUS;
}

static bool probe_posix_spawn(struct probe_files *files)
{
    pid_t child;
    (void)files;
    return !call_posix_spawn(&child, SHELL, NULL, NULL, SHELL_ARGUMENTS, NO_ENVIRONMENT) && ended_well(child);
}

static bool probe_posix_spawnp(struct probe_files *files)
{
    pid_t child;
    (void)files;
    return !call_posix_spawnp(&child, SHELL, NULL, NULL, SHELL_ARGUMENTS, NO_ENVIRONMENT) &&
           ended_well(child);
}

const struct probe tfd_process_probes[] = {
    {"dlsym", (void *)call_dlsym, probe_dlsym, {{0}}},
    {"vfork", (void *)call_vfork, probe_vfork, {{0}}},
    {"_exit", (void *)call__exit, probe__exit, {{0}}},
    {"_Exit", (void *)call__Exit, probe__Exit, {{0}}},
    {"execve", (void *)call_execve, probe_execve, {{0}}},
    {"execvpe", (void *)call_execvpe, probe_execvpe, {{0}}},
    {"execv", (void *)call_execv, probe_execv, {{0}}},
    {"execvp", (void *)call_execvp, probe_execvp, {{0}}},
    {"execl", (void *)call_execl, probe_execl, {{0}}},
    {"execlp", (void *)call_execlp, probe_execlp, {{0}}},
    {"execle", (void *)call_execle, probe_execle, {{0}}},
    {"system", (void *)call_system, probe_system, {{0}}},
    {"popen", (void *)call_popen, probe_popen, {{0}}},
    {"fexecve", (void *)call_fexecve, probe_fexecve, {{0}}},
    {"execveat", (void *)call_execveat, probe_execveat, {{0}}},
    {"posix_spawn", (void *)call_posix_spawn, probe_posix_spawn, {{0}}},
    {"posix_spawnp", (void *)call_posix_spawnp, probe_posix_spawnp, {{0}}},
    {0},
};
