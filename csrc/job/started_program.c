#define _GNU_SOURCE
#include "job/started_program.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/kernel_io.h"
#include "base/process_identity.h"
#include "job/program_list.h"

int64_t tfd_note_time(void)
{
    struct timespec now;
    return clock_gettime(CLOCK_REALTIME, &now) ? 0 : now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int64_t note(const char *spool_directory, enum tfd_start_note letter, int32_t pid, int32_t parent,
                    int64_t at, const char *path)
{
    char line[TFD_NOTE_BYTES];
    int length = snprintf(line, sizeof line, "%c %d %d %lld %s", (char)letter, (int)pid, (int)parent,
                          (long long)at, path);
    return tfd_program_list_add(spool_directory, line, length);
}

void tfd_note_spawned(const char *spool_directory, int32_t pid, int64_t at, const char *path)
{
    enum tfd_start_note letter = tfd_ignores_children() ? TFD_NOTE_SPAWNED_UNCOUNTED : TFD_NOTE_SPAWNED;
    tfd_kernel_io_exclude_written(note(spool_directory, letter, pid, getpid(), at, path));
}

void tfd_note_shell(const char *spool_directory, const char *path)
{
    tfd_kernel_io_exclude_written(note(spool_directory, TFD_NOTE_SHELL, 0, getpid(), tfd_note_time(), path));
}

static void note_self(const char *spool_directory, enum tfd_start_note letter, const char *path)
{
    note(spool_directory, letter, getpid(), getppid(), tfd_note_time(), path);
}

/* A child inherits its parent's disposition of SIGCHLD. */
void tfd_note_becomes(const char *spool_directory, const char *path)
{
    note_self(spool_directory, tfd_ignores_children() ? TFD_NOTE_BECOMES_UNCOUNTED : TFD_NOTE_BECOMES, path);
}

void tfd_note_settled(const char *spool_directory)
{
    note_self(spool_directory, TFD_NOTE_SETTLED, "");
}

void tfd_note_children_left(const char *spool_directory)
{
    note_self(spool_directory, TFD_NOTE_CHILDREN_LEFT, "");
}
