/* Wrappers of calls that have a shell run a command. The C library starts the shell itself, in the process's own
 * environment, which must not name the library for programs. So the shell is given another command: it becomes a shell
 * with the library, which runs the command. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hooks/hook_table.h"
#include "job/own_environment.h"
#include "job/preload_list.h"
#include "job/started_program.h"
#include "recorder/session.h"
#include "wrappers/program_file.h"
#include "wrappers/wrappers.h"

#define SHELL "/bin/sh"
#define MOST_QUOTED_BYTES (120u << 10) /* of the quoted command: the kernel allows 128 KiB */
#define SETTING TFD_PRELOAD_VARIABLE "=\"${" TFD_PRELOAD_VARIABLE ":+$" TFD_PRELOAD_VARIABLE ":}\""
#define BECOMES "; export " TFD_PRELOAD_VARIABLE "; exec " SHELL " -c "
#define NAMED " sh" /* $0, as the C library sets it */

static void note_unseen(enum tfd_program why)
{
    const char *folder = tfd_environment_offered_folder();
    if (folder)
        tfd_note_unseen_program(folder, why, SHELL);
}

static const char *library_for_shell(void)
{
    bool offered = tfd_environment_offered() && tfd_is_recording_or_about_to();
    const char *library = offered ? tfd_environment_library() : NULL;
    enum tfd_program shell = library ? tfd_program_look_at(AT_FDCWD, SHELL, library) : TFD_PROGRAM_NONE;
    if (shell != TFD_PROGRAM_NONE && shell != TFD_PROGRAM_TAKES_IT)
        note_unseen(shell);
    return shell == TFD_PROGRAM_TAKES_IT ? library : NULL;
}

/* Append `text` quoted as one word of the shell; return the end. */
static char *add_quoted(char *out, const char *text)
{
    *out++ = '\'';
    for (; *text; text++)
        out = *text == '\'' ? stpcpy(out, "'\\''") : (*out = *text, out + 1);
    return stpcpy(out, "'");
}

static size_t quoted_bytes(const char *text)
{
    size_t bytes = 2;
    for (; *text; text++)
        bytes += *text == '\'' ? 4 : 1;
    return bytes;
}

/* Return the command that records the shell, NULL if the command stays unchanged. */
static char *recorded_command(const char *command)
{
    int saved_errno = errno;
    const char *library = command ? library_for_shell() : NULL;
    size_t bytes = library ? quoted_bytes(command) : 0;
    char *made = bytes && bytes <= MOST_QUOTED_BYTES
                     ? malloc(bytes + quoted_bytes(library) + sizeof SETTING BECOMES NAMED)
                     : NULL;
    if (made) {
        char *end = add_quoted(stpcpy(made, SETTING), library);
        stpcpy(add_quoted(stpcpy(end, BECOMES), command), NAMED);
    } else if (bytes)
        note_unseen(TFD_PROGRAM_LARGE);
    errno = saved_errno;
    return made;
}

/* Note the shell, or why it is not recorded. */
static void note_shell(const char *command)
{
    bool offered = command && tfd_environment_offered() && tfd_is_recording_or_about_to();
    if (offered && !tfd_environment_library())
        tfd_note_shell(tfd_environment_offered_folder(), SHELL);
}

static void forget_command(char *made)
{
    int saved_errno = errno;
    free(made);
    errno = saved_errno;
}

int tfd_wrap_system(const char *command)
{
    char *made = recorded_command(command);
    note_shell(command);
    int status = TFD_NEXT(system)(made ? made : command);
    forget_command(made);
    return status;
}

FILE *tfd_wrap_popen(const char *command, const char *mode)
{
    char *made = recorded_command(command);
    note_shell(command);
    FILE *stream = TFD_NEXT(popen)(made ? made : command, mode);
    forget_command(made);
    return stream;
}
