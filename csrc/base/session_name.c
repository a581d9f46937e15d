#define _GNU_SOURCE
#include "base/session_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tfd_session_name_read(const char *text, struct tfd_session_name *name)
{
    const char *core = text ? strchr(text, ':') : NULL;
    *name = (struct tfd_session_name){.job = "", .core = ""};
    if (!core)
        return false;
    const char *end = strchrnul(++core, ':');
    *name = (struct tfd_session_name){
        .job = text,
        .core = core,
        .job_length = (int)(core - 1 - text),
        .core_length = (int)(end - core),
        .spool_folder = *end ? end + 1 : NULL,
    };
    return true;
}

char *tfd_session_name_setting(const struct tfd_session_name *name)
{
    char *setting = NULL;
    const char *folder = name->spool_folder;
    int length = asprintf(&setting, TFD_SESSION_VARIABLE "=%.*s:%.*s%s%s", name->job_length, name->job,
                          name->core_length, name->core, folder ? ":" : "", folder ? folder : "");
    return length < 0 ? NULL : setting;
}

const char *tfd_named_spool_folder(void)
{
    struct tfd_session_name name;
    tfd_session_name_read(getenv(TFD_SESSION_VARIABLE), &name);
    return name.spool_folder;
}
