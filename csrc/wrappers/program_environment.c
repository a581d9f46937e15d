#include "wrappers/program_environment.h"

#include <stdbool.h>
#include <string.h>

#include "job/own_environment.h"
#include "job/preload_list.h"
#include "job/session_name.h"

/* A larger environment, or a longer list of libraries, stays unchanged: a thread's stack may be small. */
#define MOST_VARIABLES 4096u
#define MOST_LIST_BYTES 4096u

static bool is_variable(const char *variable, const char *name)
{
    size_t length = strlen(name);
    return !strncmp(variable, name, length) && variable[length] == '=';
}

/* The kernel takes NULL for an empty environment. */
static char *const *variables_of(char *const environment[])
{
    static char *const none[] = {NULL};
    return environment ? environment : none;
}

static const char *preload_of(char *const environment[])
{
    for (; *environment; environment++)
        if (is_variable(*environment, TFD_PRELOAD_VARIABLE))
            return *environment + sizeof TFD_PRELOAD_VARIABLE;
    return "";
}

struct tfd_program_start tfd_program_start(const char *library, char *const environment[])
{
    size_t count = 0;
    environment = variables_of(environment);
    while (environment[count] && count <= MOST_VARIABLES)
        count++;
    if (count > MOST_VARIABLES)
        return (struct tfd_program_start){0};
    size_t list = strlen(preload_of(environment)), own = library ? strlen(library) + 1 : 0;
    if (!tfd_environment_library() || list > MOST_LIST_BYTES)
        return (struct tfd_program_start){NULL, count + 2, 0};
    return (struct tfd_program_start){library, count + 3, sizeof TFD_PRELOAD_VARIABLE + list + own + 1};
}

/* Return true if the list of libraries changes; `text` then gets it, and may be empty. */
static bool fill_text(const struct tfd_program_start *start, char *text, const char *list)
{
    char *value = text + sizeof TFD_PRELOAD_VARIABLE;
    memcpy(text, TFD_PRELOAD_VARIABLE "=", sizeof TFD_PRELOAD_VARIABLE);
    strcpy(value, list);
    bool removed = tfd_preload_list_remove(value, tfd_environment_library());
    if (!start->library)
        return removed;
    size_t length = strlen(value);
    if (length)
        value[length++] = ':';
    strcpy(value + length, start->library);
    return true;
}

char *const *tfd_program_environment(const struct tfd_program_start *start, char **out, char *text,
                                     char *const environment[])
{
    const char *offered = tfd_environment_offered();
    environment = variables_of(environment);
    bool rewrites = start->text_bytes && fill_text(start, text, preload_of(environment));
    size_t count = 0;
    for (; *environment; environment++) {
        if (is_variable(*environment, TFD_SESSION_VARIABLE) ||
            (rewrites && is_variable(*environment, TFD_PRELOAD_VARIABLE)))
            continue;
        out[count++] = *environment;
    }
    if (offered)
        out[count++] = (char *)offered;
    if (rewrites && text[sizeof TFD_PRELOAD_VARIABLE])
        out[count++] = text;
    out[count] = NULL;
    return out;
}
