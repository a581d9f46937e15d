/* Runs each program that flags.mk builds: {position independent or not} x {jump slot, global offset table,
 * pointer in data} x {bound lazily, at once} x {read-only after relocation, not}, with a library of each kind. */
#define _GNU_SOURCE
#include <dirent.h>
#include <libgen.h>
#include <sys/wait.h>

#include "check.h"

#define PROGRAMS 24

static int run(const char *program, const char *folder)
{
    int status = -1;
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        execl(program, program, folder, (char *)NULL);
        _exit(127);
    }
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

int main(int argc, char **argv)
{
    char folder[PATH_MAX] = "", path[2 * PATH_MAX];
    int count = 0, failed = 0;
    CHECK(argc >= 2);
    CHECK(readlink("/proc/self/exe", folder, sizeof folder - 1) > 0);
    DIR *entries = opendir(dirname(folder));
    CHECK(entries);
    for (struct dirent *entry; (entry = readdir(entries));) {
        if (strncmp(entry->d_name, "program_", 8))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        int status = run(path, argv[1]);
        if (status)
            fprintf(stderr, "%s: %s %d\n", entry->d_name, WIFSIGNALED(status) ? "signal" : "exit",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        failed += status != 0;
        count++;
    }
    closedir(entries);
    CHECK_EQUAL(count, PROGRAMS);
    CHECK_EQUAL(failed, 0);
    return 0;
}
