/* The library for programs: the dynamic loader loads it (LD_PRELOAD) into a program that a job starts, where it joins
 * the session before main. It exports no symbol that another library could take for its own. Without a session it does
 * nothing. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "faults/mapped_reads.h"
#include "job/join_offer.h"
#include "job/preload_list.h"
#include "job/session_name.h"
#include "job/unseen_program.h"
#include "joining/leave_program.h"
#include "recorder/session.h"
#include "tfdarshan.h"

/* Remove this library from LD_PRELOAD in place, so that neither getenv() nor main's third argument shows it. */
static void hide_from_program(char **environment)
{
    Dl_info own;
    if (!dladdr((void *)(uintptr_t)hide_from_program, &own) || !own.dli_fname)
        return;
    for (char **variable = environment; variable && *variable; variable++) {
        size_t name = sizeof TFD_PRELOAD_VARIABLE - 1;
        if (strncmp(*variable, TFD_PRELOAD_VARIABLE "=", name + 1) ||
            !tfd_preload_list_remove(*variable + name + 1, own.dli_fname))
            continue;
        if (!(*variable)[name + 1])
            unsetenv(TFD_PRELOAD_VARIABLE);
        return;
    }
}

/* The spool's mapping is large: if address space is limited, the program would lack it. */
static bool is_memory_limited(void)
{
    struct rlimit limit;
    return !getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY;
}

/* Join the session; return TFD_PROGRAM_NONE if it records this program or has ended. */
static enum tfd_program join(const char *directory)
{
    if (is_memory_limited())
        return TFD_PROGRAM_LIMITED;
    tfd_mapped_reads_leave_alone();
    int status = tfd_session_join(directory);
    if (!status)
        tfd_session.spool.header->joined = TFD_JOINED_BY_LIBRARY;
    return !status || status == -ESRCH ? TFD_PROGRAM_NONE : TFD_PROGRAM_NOT_JOINED;
}

__attribute__((constructor)) static void join_at_start(void)
{
    int saved_errno = errno;
    hide_from_program(environ);
    const char *directory = tfd_named_spool_folder();
    enum tfd_program why = directory && *directory ? join(directory) : TFD_PROGRAM_NONE;
    if (why != TFD_PROGRAM_NONE &&
        !dlsym(RTLD_DEFAULT, "Py_Initialize")) /* an interpreter joins by itself later */
        tfd_note_unseen_self(directory, why);
    errno = saved_errno;
}

__attribute__((visibility("default"))) int tfdarshan_leave_program(int keep)
{
    char path[TFD_SPOOL_PATH_MAX];
    struct tfd_attach_report report;
    if (!tfd_session_active())
        return 0;
    memcpy(path, tfd_session.spool.path, sizeof path);
    tfd_session_stop(&report);
    if (!keep)
        unlink(path);
    return 1;
}
