#define _GNU_SOURCE
#include "job/unseen_program.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "job/program_list.h"
#include "job/started_program.h"

void tfd_note_unseen_program(const char *spool_directory, enum tfd_program why, const char *path)
{
    char line[TFD_NOTE_BYTES];
    tfd_program_list_add(spool_directory, line, snprintf(line, sizeof line, "%c %s", (char)why, path));
}

void tfd_note_unseen_self(const char *spool_directory, enum tfd_program why)
{
    char program[PATH_MAX];
    int saved_errno = errno;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    errno = saved_errno;
    if (length <= 0)
        return;
    program[length] = '\0';
    tfd_note_unseen_program(spool_directory, why, program);
    tfd_note_settled(spool_directory);
}
