/* Notes of all started programs in a session's list (job/unseen_program.h). Those that do not join later were not
 * recorded. */
#ifndef TFD_STARTED_PROGRAM_H
#define TFD_STARTED_PROGRAM_H

#include <stdint.h>

/* The first letter of a line, which goes on with the process, its parent, the time and the program. A capital letter:
 * the parent has written the line and counts its bytes as the recorder's. A small letter: the process itself has. */
enum tfd_start_note {
    TFD_NOTE_BECOMES = 'n',
    TFD_NOTE_SPAWNED = 'N',
    TFD_NOTE_BECOMES_UNCOUNTED = 'i', /* the kernel reaps it, and adds its I/O to no process */
    TFD_NOTE_SPAWNED_UNCOUNTED = 'I',
    TFD_NOTE_SHELL = 'H',   /* a shell that the C library starts: its number is not known */
    TFD_NOTE_SETTLED = 'x', /* the process's last program could not be started, or has a line of its own */
    TFD_NOTE_CHILDREN_LEFT = 'o', /* the process stops recording; its children's I/O may be counted nowhere */
};

/* Return the time in nanoseconds since the epoch, by the clock of a spool's beginning. */
int64_t tfd_note_time(void);
/* Note a child of the calling process, which began at time `at`. */
void tfd_note_spawned(const char *spool_directory, int32_t pid, int64_t at, const char *path);
void tfd_note_shell(const char *spool_directory, const char *path);
/* Note the program that the calling process becomes. A child of vfork may call these: they change no memory but the
 * stack. All keep errno. */
void tfd_note_becomes(const char *spool_directory, const char *path);
void tfd_note_settled(const char *spool_directory);
void tfd_note_children_left(const char *spool_directory);

#endif
