/* What the hazard programs share: a check that says where it failed, and a session. */
#ifndef CHECK_H
#define CHECK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tfdarshan.h"

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

/* Starts a session whose spool goes to `directory`; ends the program where that fails. */
static inline void check_start(const char *directory)
{
    struct tfd_options options = {
        .spool_directory = directory,
        .capacity_bytes = 64u << 20,
        .trace_limit_bytes = 32u << 20,
        .follow_children = 1,
    };
    struct tfd_attach_report report = {0};
    if (tfd_session_start(&options, &report)) {
        fprintf(stderr, "session did not start: %s\n", tfd_last_error());
        exit(1);
    }
    CHECK(report.slots_patched > 0);
}

/* Stops it and checks that every patched slot holds its own value again. */
static inline void check_stop(void)
{
    struct tfd_attach_report report = {0};
    CHECK(tfd_session_stop(&report) == 0);
    CHECK(tfd_slots_holding_wrappers() == 0);
}

#endif
