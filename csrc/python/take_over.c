/* An interpreter that starts is recorded by the library for programs already, where the session has one: the core
 * goes on in its place, so that what Python asks the core about itself is true. */
#define _GNU_SOURCE
#include "python/take_over.h"

#include <dlfcn.h>
#include <errno.h>

#include "programs/leave_program.h"
#include "tfdarshan.h"

bool tfd_library_leaves(bool keep)
{
    tfd_leave_program_function *leave =
        (tfd_leave_program_function *)(uintptr_t)dlsym(RTLD_DEFAULT, TFD_LEAVE_PROGRAM);
    return leave && leave(keep);
}

int tfd_session_take_over(const char *spool_directory)
{
    return tfd_library_leaves(true) ? tfd_session_join(spool_directory) : -ENOENT;
}
