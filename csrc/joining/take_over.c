/* The core takes over a starting interpreter from the library for programs, which may record it already, or from the
 * library for late joins, so that the core's answers to Python about the process are true. */
#define _GNU_SOURCE
#include "joining/take_over.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "job/session_name.h"
#include "joining/handover.h"
#include "joining/leave_program.h"
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

struct library_path {
    char text[4096];
};

static int find_waiting_library(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct library_path *path = context;
    const char *name = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    if (!name || strcmp(name + 1, TFD_WAITING_LIBRARY) || strlen(info->dlpi_name) >= sizeof path->text)
        return 0;
    strcpy(path->text, info->dlpi_name);
    return 1;
}

/* Its symbols are not global, so this finds the library by its file name. It is never unloaded. */
bool tfd_waiting_library_leaves(void)
{
    struct library_path path;
    if (!dl_iterate_phdr(find_waiting_library, &path))
        return false;
    void *library = dlopen(path.text, RTLD_LAZY | RTLD_NOLOAD);
    tfd_leave_waiting_function *leave =
        library ? (tfd_leave_waiting_function *)(uintptr_t)dlsym(library, TFD_LEAVE_WAITING) : NULL;
    return leave && leave();
}

__attribute__((visibility("default"))) void tfdarshan_take_over_waiting(const void *interpreter,
                                                                        tfd_leave_waiting_function *leave,
                                                                        struct tfd_waited *waited)
{
    tfd_kernel_io_exclude_in(waited->own);
    tfd_missed_opens_count_in(waited->missed);
    tfd_job_take_over(interpreter, waited->found);
    leave();
    tfd_job_meet(interpreter);
}
