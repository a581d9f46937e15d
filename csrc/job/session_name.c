#define _GNU_SOURCE
#include "job/session_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tfd_session_name_read(const char *text, struct tfd_session_name *name)
{
    const char *library = text ? strchr(text, ':') : NULL;
    *name = (struct tfd_session_name){.job = "", .library = ""};
    if (!library)
        return false;
    const char *end = strchrnul(++library, ':');
    *name = (struct tfd_session_name){
        .job = text,
        .library = library,
        .job_length = (int)(library - 1 - text),
        .library_length = (int)(end - library),
        .spool_folder = *end ? end + 1 : NULL,
    };
    return true;
}

bool tfd_session_name_beside(const struct tfd_session_name *name, const char *library, char *path,
                             size_t capacity)
{
    const char *slash = memrchr(name->library, '/', (size_t)name->library_length);
    if (!slash)
        return false;
    int length = snprintf(path, capacity, "%.*s/%s", (int)(slash - name->library), name->library, library);
    return length > 0 && (size_t)length < capacity;
}

char *tfd_session_name_setting(const struct tfd_session_name *name)
{
    char *setting = NULL;
    const char *folder = name->spool_folder;
    int length = asprintf(&setting, TFD_SESSION_VARIABLE "=%.*s:%.*s%s%s", name->job_length, name->job,
                          name->library_length, name->library, folder ? ":" : "", folder ? folder : "");
    return length < 0 ? NULL : setting;
}

const char *tfd_named_spool_folder(void)
{
    struct tfd_session_name name;
    tfd_session_name_read(getenv(TFD_SESSION_VARIABLE), &name);
    return name.spool_folder;
}
