/* Notes in a session's list of programs (job/unseen_program.h) of all that are started: those that do not join later
 * were not recorded. */
#ifndef TFD_STARTED_PROGRAM_H
#define TFD_STARTED_PROGRAM_H

#include <stdint.h>

/* The letter that its line begins with; then come the process, its parent, the time and the program. A capital: the
 * parent has written the line, and counts its bytes as the recorder's. Else the process itself has. */
enum tfd_start_note {
    TFD_NOTE_BECOMES = 'n',
    TFD_NOTE_SPAWNED = 'N',
    TFD_NOTE_BECOMES_UNCOUNTED =
        'i', /* the kernel clears it away, and adds what it moved to nobody's figures */
    TFD_NOTE_SPAWNED_UNCOUNTED = 'I',
    TFD_NOTE_SHELL = 'H',   /* a shell, started inside the C library: its number is not known */
    TFD_NOTE_SETTLED = 'x', /* the process's last program could not be started, or is told of elsewhere */
    TFD_NOTE_CHILDREN_LEFT =
        'o', /* the process stops recording, and what its children move may be in no figure */
};

/* Nanoseconds since the epoch, as a spool says when it began. */
int64_t tfd_note_time(void);
/* Of a child of the calling process, which began at that time. */
void tfd_note_spawned(const char *spool_directory, int32_t pid, int64_t at, const char *path);
void tfd_note_shell(const char *spool_directory, const char *path);
/* Of the calling process, which becomes the program. These may be made in a child of vfork: they change no memory but
 * the stack. All keep errno. */
void tfd_note_becomes(const char *spool_directory, const char *path);
void tfd_note_settled(const char *spool_directory);
void tfd_note_children_left(const char *spool_directory);

#endif
