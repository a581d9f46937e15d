/* Each hooked symbol is called once without a session, once while a session records, and once while the session records
 * started programs too. Result and errno are the same, and the call leaves its known events. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <gnu/libc-version.h>

#include "job/join_offer.h"
#include "probe/probe.h"
#include "recorded.h"

#define EVENTS 2

static const char *directory;

static struct tfd_probe_outcome call_alone(size_t probe)
{
    struct tfd_probe_outcome outcome;
    CHECK(tfd_probe_begin(probe, directory) == 0);
    tfd_probe_call(probe);
    CHECK(tfd_probe_end(probe, &outcome) == 0);
    return outcome;
}

static struct tfd_probe_outcome call_recorded(size_t probe, const char *program_library)
{
    struct tfd_probe_outcome outcome;
    struct tfd_options options = check_options(directory);
    options.capacity_bytes = 16u << 20;
    options.trace_limit_bytes = 4u << 20;
    options.program_library = program_library;
    CHECK(tfd_probe_begin(probe, directory) == 0);
    check_start_with(&options);
    tfd_probe_call(probe);
    check_stop();
    CHECK(tfd_probe_end(probe, &outcome) == 0);
    return outcome;
}

static int operation_named(const char *name)
{
    for (size_t operation = 0; operation < tfd_operation_count(); operation++)
        if (!strcmp(tfd_operation_name(operation), name))
            return (int)operation;
    return -1;
}

/* Calls of the events' operations on their files, and bytes: a tally is of all events that are alike. */
static void check_events(size_t probe, const struct tfd_probe_outcome *outcome)
{
    struct tfd_probe_event events[EVENTS];
    size_t count = tfd_probe_events(probe, events, EVENTS);
    struct tfd_spool spool = recorded_open(directory, getpid());
    CHECK_EQUAL(recorded_tally(&spool, NULL, -1).calls, count);
    for (size_t i = 0; i < count; i++) {
        const char *path = events[i].file < 0 ? NULL : outcome->path[events[i].file];
        struct tally found = recorded_tally(&spool, path, operation_named(events[i].operation));
        bool alike = count == 2 && !strcmp(events[0].operation, events[1].operation) &&
                     (!path || events[0].file == events[1].file);
        CHECK_EQUAL(found.calls, alike ? 2 : 1);
        CHECK_EQUAL(found.bytes, alike ? events[0].length + events[1].length : events[i].length);
        CHECK_EQUAL(found.failed, 0);
    }
    recorded_close(&spool);
    check_drop_spool(directory, getpid());
}

static void check_probe(size_t probe, const char *program_library)
{
    struct tfd_probe_outcome alone = call_alone(probe);
    if (!alone.ok)
        return; /* this machine does not let it */
    struct tfd_probe_outcome recorded = call_recorded(probe, program_library);
    if (!recorded.ok || recorded.error != alone.error) {
        fprintf(stderr, "%s: %s, errno %d instead of %d\n", tfd_probe_symbol(probe),
                recorded.ok ? "worked" : "failed", recorded.error, alone.error);
        _exit(1);
    }
    check_events(probe, &recorded);
}

/* A library that every program has already, so that it does nothing there. */
static const char *harmless_library(void)
{
    Dl_info info;
    CHECK(dladdr((void *)gnu_get_libc_version, &info) && info.dli_fname[0] == '/');
    return info.dli_fname;
}

int main(int argc, char **argv)
{
    char core[PATH_MAX];
    CHECK(argc >= 2);
    directory = argv[1];
    check_make_file(core, directory, TFD_JOIN_CORE_NAME,
                    0); /* without it no program is told of the session */
    size_t tried = 0;
    for (size_t probe = 0; probe < tfd_probe_count(); probe++) {
        if (!tfd_probe_linked(probe))
            continue;
        check_probe(probe, NULL);
        check_probe(probe, harmless_library());
        tried++;
    }
    CHECK(tried > 100);
    return 0;
}
