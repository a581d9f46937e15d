/* Wrappers of the calls that start another program in an environment that is given to them: it learns of the session
 * as one does that inherits the process's own. They may run in a child of vfork, so they change no memory but their
 * own stack. */
#define _GNU_SOURCE
#include <alloca.h>
#include <string.h>

#include "base/own_environment.h"
#include "hooks/hook_table.h"
#include "recorder/session.h"
#include "wrappers/wrappers.h"

/* A larger environment stays as it is: a thread's stack may be small. */
#define MOST_VARIABLES 4096u
#define NAME_BYTES (sizeof TFD_SESSION_VARIABLE) /* with the '=' */

static bool is_session_variable(const char *variable)
{
    return !strncmp(variable, TFD_SESSION_VARIABLE "=", NAME_BYTES);
}

/* Places that the environment takes with the variable; 0: it is passed on as it is. */
static size_t places_with(char *const environment[])
{
    size_t count = 0;
    if (!environment || !tfd_environment_offered() || !tfd_is_recording_or_about_to())
        return 0;
    while (environment[count] && count <= MOST_VARIABLES)
        count++;
    return count <= MOST_VARIABLES ? count + 2 : 0;
}

static char *const *fill(char **out, char *const environment[])
{
    const char *offered = tfd_environment_offered();
    size_t count = 0;
    for (; *environment; environment++)
        if (!is_session_variable(*environment))
            out[count++] = *environment;
    if (offered)
        out[count++] = (char *)offered;
    out[count] = NULL;
    return out;
}

/* Not a function: what alloca gives lasts as long as the wrapper. */
#define WITH_SESSION(environment, places)                                                                    \
    ((places) ? fill(alloca((places) * sizeof(char *)), environment) : (environment))

int tfd_wrap_execve(const char *path, char *const arguments[], char *const environment[])
{
    size_t places = places_with(environment);
    return TFD_NEXT(execve)(path, arguments, WITH_SESSION(environment, places));
}

int tfd_wrap_execvpe(const char *file, char *const arguments[], char *const environment[])
{
    size_t places = places_with(environment);
    return TFD_NEXT(execvpe)(file, arguments, WITH_SESSION(environment, places));
}

int tfd_wrap_fexecve(int fd, char *const arguments[], char *const environment[])
{
    size_t places = places_with(environment);
    return TFD_NEXT(fexecve)(fd, arguments, WITH_SESSION(environment, places));
}

int tfd_wrap_execveat(int dirfd, const char *path, char *const arguments[], char *const environment[],
                      int flags)
{
    size_t places = places_with(environment);
    return TFD_NEXT(execveat)(dirfd, path, arguments, WITH_SESSION(environment, places), flags);
}

int tfd_wrap_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                         const posix_spawnattr_t *attributes, char *const arguments[],
                         char *const environment[])
{
    size_t places = places_with(environment);
    return TFD_NEXT(posix_spawn)(pid, path, actions, attributes, arguments,
                                 WITH_SESSION(environment, places));
}

int tfd_wrap_posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                          const posix_spawnattr_t *attributes, char *const arguments[],
                          char *const environment[])
{
    size_t places = places_with(environment);
    return TFD_NEXT(posix_spawnp)(pid, file, actions, attributes, arguments,
                                  WITH_SESSION(environment, places));
}
