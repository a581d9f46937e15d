/* Wrappers of calls that start another program. They put the session's variable into its environment. If the session
 * records programs without Python, they also add our library to LD_PRELOAD. They may run in a child of vfork, so they
 * change no memory but their own stack. */
#define _GNU_SOURCE
#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hooks/hook_table.h"
#include "job/own_environment.h"
#include "job/started_program.h"
#include "recorder/recorder_calls.h"
#include "recorder/recording.h"
#include "recorder/session.h"
#include "wrappers/program_environment.h"
#include "wrappers/program_file.h"
#include "wrappers/wrappers.h"

#define DESCRIPTORS "/proc/self/fd/"

/* A macro, since memory of alloca() lasts as long as the function that calls it. */
#define ENVIRONMENT_FOR(start, environment)                                                                  \
    ((start).places ? tfd_program_environment(&(start), alloca((start).places * sizeof(char *)),             \
                                              alloca((start).text_bytes), environment)                       \
                    : (environment))

static bool is_offered(void)
{
    return tfd_environment_offered() && tfd_is_recording_or_about_to();
}

static bool records_programs(void)
{
    return is_offered() && tfd_environment_library();
}

/* Return true if a program that gets the process's own environment needs another one. */
static bool changes_environment(void)
{
    return is_offered() && (tfd_environment_library() || tfd_environment_lacks_offer());
}

/* Return the path of a descriptor's file. */
static const char *file_of(const char *path, char opened[PATH_MAX])
{
    ssize_t length =
        strncmp(path, DESCRIPTORS, strlen(DESCRIPTORS)) ? 0 : readlink(path, opened, PATH_MAX - 1);
    if (length <= 0)
        return path;
    opened[length] = '\0';
    return opened;
}

static void note_unseen(enum tfd_program why, const char *path)
{
    const char *folder = tfd_environment_offered_folder();
    char opened[PATH_MAX];
    if (folder)
        tfd_note_unseen_program(folder, why, file_of(path, opened));
}

/* Note the program; return the folder where the note is withdrawn if the program cannot be started, NULL if no note was
 * made. */
static const char *note_becomes(int dirfd, const char *path)
{
    const char *folder = path && is_offered() ? tfd_environment_offered_folder() : NULL;
    char opened[PATH_MAX];
    int saved_errno = errno;
    if (folder && faccessat(dirfd, path, X_OK, AT_EACCESS))
        folder = NULL;
    if (folder) {
        tfd_note_becomes(folder, file_of(path, opened));
        tfd_before_exec();
    }
    errno = saved_errno;
    return folder;
}

static const char *note_becomes_named(const char *name)
{
    char path[PATH_MAX];
    if (!name || strchr(name, '/'))
        return note_becomes(AT_FDCWD, name);
    bool found = is_offered() && tfd_program_find(name, path, sizeof path);
    return found ? note_becomes(AT_FDCWD, path) : NULL;
}

static const char *note_becomes_descriptor(int fd)
{
    char path[32];
    snprintf(path, sizeof path, DESCRIPTORS "%d", fd);
    return note_becomes(AT_FDCWD, path);
}

/* exec(3) returns only if the program was not started. */
static int not_started(const char *noted_in, int status)
{
    if (noted_in) {
        tfd_note_settled(noted_in);
        tfd_after_failed_exec();
    }
    return status;
}

static int spawned(int status, const pid_t *pid, const char *path, int64_t at)
{
    const char *folder = !status && is_offered() ? tfd_environment_offered_folder() : NULL;
    if (folder)
        tfd_note_spawned(folder, *pid, at, path);
    return status;
}

/* Return the library for a program, NULL if it takes none. */
static const char *library_for(int dirfd, const char *path)
{
    const char *library = tfd_environment_library();
    enum tfd_program program = library ? tfd_program_look_at(dirfd, path, library) : TFD_PROGRAM_NONE;
    if (program != TFD_PROGRAM_NONE && program != TFD_PROGRAM_TAKES_IT)
        note_unseen(program, path);
    return program == TFD_PROGRAM_TAKES_IT ? library : NULL;
}

/* A name that is searched in PATH is not counted, since its file is not known. */
static void note_other_user(int dirfd, const char *path)
{
    int saved_errno = errno;
    if (path && strchr(path, '/') && is_offered() && geteuid() != tfd_session.user &&
        !faccessat(dirfd, path, X_OK, AT_EACCESS))
        tfd_record_other_user();
    errno = saved_errno;
}

/* `path` is NULL for a program that takes no library. */
static struct tfd_program_start start_of(int dirfd, const char *path, char *const environment[])
{
    if (!is_offered())
        return (struct tfd_program_start){0};
    note_other_user(dirfd, path);
    const char *library = path && tfd_environment_library() ? library_for(dirfd, path) : NULL;
    struct tfd_program_start start = tfd_program_start(library, environment);
    if (library && !start.library)
        note_unseen(TFD_PROGRAM_LARGE, path);
    return start;
}

static struct tfd_program_start start_of_path(const char *path, char *const environment[])
{
    return start_of(AT_FDCWD, path, environment);
}

static struct tfd_program_start start_of_name(const char *name, char *const environment[])
{
    char path[PATH_MAX];
    if (name && strchr(name, '/'))
        return start_of_path(name, environment);
    bool found = name && records_programs() && tfd_program_find(name, path, sizeof path);
    return start_of_path(found ? path : NULL, environment);
}

static struct tfd_program_start start_of_descriptor(int fd, char *const environment[])
{
    char path[32];
    snprintf(path, sizeof path, DESCRIPTORS "%d", fd);
    return start_of_path(path, environment);
}

int tfd_wrap_execve(const char *path, char *const arguments[], char *const environment[])
{
    struct tfd_program_start start = start_of_path(path, environment);
    const char *noted = note_becomes(AT_FDCWD, path);
    return not_started(noted, TFD_NEXT(execve)(path, arguments, ENVIRONMENT_FOR(start, environment)));
}

int tfd_wrap_execvpe(const char *file, char *const arguments[], char *const environment[])
{
    struct tfd_program_start start = start_of_name(file, environment);
    const char *noted = note_becomes_named(file);
    return not_started(noted, TFD_NEXT(execvpe)(file, arguments, ENVIRONMENT_FOR(start, environment)));
}

int tfd_wrap_execv(const char *path, char *const arguments[])
{
    const char *noted = note_becomes(AT_FDCWD, path);
    if (!changes_environment()) {
        note_other_user(AT_FDCWD, path);
        return not_started(noted, TFD_NEXT(execv)(path, arguments));
    }
    struct tfd_program_start start = start_of_path(path, environ);
    return not_started(noted, TFD_NEXT(execve)(path, arguments, ENVIRONMENT_FOR(start, environ)));
}

int tfd_wrap_execvp(const char *file, char *const arguments[])
{
    const char *noted = note_becomes_named(file);
    if (!changes_environment()) {
        note_other_user(AT_FDCWD, file);
        return not_started(noted, TFD_NEXT(execvp)(file, arguments));
    }
    struct tfd_program_start start = start_of_name(file, environ);
    return not_started(noted, TFD_NEXT(execvpe)(file, arguments, ENVIRONMENT_FOR(start, environ)));
}

int tfd_wrap_fexecve(int fd, char *const arguments[], char *const environment[])
{
    struct tfd_program_start start = start_of_descriptor(fd, environment);
    const char *noted = note_becomes_descriptor(fd);
    return not_started(noted, TFD_NEXT(fexecve)(fd, arguments, ENVIRONMENT_FOR(start, environment)));
}

int tfd_wrap_execveat(int dirfd, const char *path, char *const arguments[], char *const environment[],
                      int flags)
{
    bool by_descriptor = path && !*path && flags & AT_EMPTY_PATH;
    struct tfd_program_start start =
        by_descriptor ? start_of_descriptor(dirfd, environment) : start_of(dirfd, path, environment);
    const char *noted = by_descriptor ? note_becomes_descriptor(dirfd) : note_becomes(dirfd, path);
    return not_started(
        noted, TFD_NEXT(execveat)(dirfd, path, arguments, ENVIRONMENT_FOR(start, environment), flags));
}

/* Return the number of arguments in a list that ends with NULL. */
static size_t count_arguments(const char *first, va_list list)
{
    size_t count = 0;
    while (first) {
        count++;
        first = va_arg(list, const char *);
    }
    return count;
}

/* Leave the list behind its NULL. A list itself would be a copy on aarch64. */
static void fill_arguments(char **out, const char *first, va_list *list)
{
    size_t count = 0;
    while (first) {
        out[count++] = (char *)first;
        first = va_arg(*list, const char *);
    }
    out[count] = NULL;
}

/* The arguments are on the stack, as in the C library. */
#define WITH_ARGUMENTS(first, arguments)                                                                     \
    va_list list;                                                                                            \
    va_start(list, first);                                                                                   \
    char **arguments = alloca((count_arguments(first, list) + 1) * sizeof(char *));                          \
    va_end(list);                                                                                            \
    va_start(list, first);                                                                                   \
    fill_arguments(arguments, first, &list)

int tfd_wrap_execl(const char *path, const char *argument, ...)
{
    WITH_ARGUMENTS(argument, arguments);
    va_end(list);
    return tfd_wrap_execv(path, arguments);
}

int tfd_wrap_execlp(const char *file, const char *argument, ...)
{
    WITH_ARGUMENTS(argument, arguments);
    va_end(list);
    return tfd_wrap_execvp(file, arguments);
}

int tfd_wrap_execle(const char *path, const char *argument, ...)
{
    WITH_ARGUMENTS(argument, arguments);
    char *const *environment = va_arg(list, char *const *);
    va_end(list);
    return tfd_wrap_execve(path, arguments, environment);
}

/* A relative path may be relative to a folder that the file actions change to. */
static struct tfd_program_start start_of_spawned(const char *path, const posix_spawn_file_actions_t *actions,
                                                 char *const environment[])
{
    if (!actions || !path || path[0] == '/')
        return start_of_path(path, environment);
    if (records_programs())
        note_unseen(TFD_PROGRAM_RELATIVE, path);
    return start_of_path(NULL, environment);
}

int tfd_wrap_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                         const posix_spawnattr_t *attributes, char *const arguments[],
                         char *const environment[])
{
    struct tfd_program_start start = start_of_spawned(path, actions, environment);
    pid_t own, *started = pid ? pid : &own;
    int64_t at = tfd_note_time();
    int status = TFD_NEXT(posix_spawn)(started, path, actions, attributes, arguments,
                                       ENVIRONMENT_FOR(start, environment));
    return spawned(status, started, path, at);
}

int tfd_wrap_posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                          const posix_spawnattr_t *attributes, char *const arguments[],
                          char *const environment[])
{
    struct tfd_program_start start = file && strchr(file, '/') ? start_of_spawned(file, actions, environment)
                                                               : start_of_name(file, environment);
    pid_t own, *started = pid ? pid : &own;
    int64_t at = tfd_note_time();
    int status = TFD_NEXT(posix_spawnp)(started, file, actions, attributes, arguments,
                                        ENVIRONMENT_FOR(start, environment));
    return spawned(status, started, file, at);
}
