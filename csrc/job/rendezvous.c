#define _GNU_SOURCE
#include "job/rendezvous.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/process_identity.h"
#include "job/job_page.h"
#include "job/own_environment.h"

#define MAX_ENTRIES 65536 /* of the folder that are searched for pages of killed jobs */
#define MAX_ANCESTORS 64
#define CLAIMED (-1)

void tfd_rendezvous_name_job(const char *core_path)
{
    char text[64];
    struct tfd_job job;
    if (tfd_job_named(&job) && tfd_job_is_living(&job)) {
        tfd_job_note(&job);
        return;
    }
    if (strchr(core_path, ':'))
        return;
    job = tfd_job_of_this_process();
    snprintf(text, sizeof text, "%d-%" PRIu64 "-%" PRIu64, (int)job.pid, job.start, job.pid_namespace);
    if (tfd_environment_name_job(text, core_path))
        tfd_job_note(&job);
}

static void sweep(void)
{
    char prefix[96];
    size_t length = tfd_job_page_prefix(prefix, sizeof prefix);
    DIR *entries = opendir(tfd_job_page_folder());
    if (!entries)
        return;
    const struct dirent *entry;
    for (unsigned left = MAX_ENTRIES; left && (entry = readdir(entries)); left--) {
        struct tfd_job job;
        if (!strncmp(entry->d_name, prefix, length) &&
            sscanf(entry->d_name + length, "%" SCNd32 "-%" SCNu64, &job.pid, &job.start) == 2 &&
            !tfd_job_is_living(&job))
            unlinkat(dirfd(entries), entry->d_name, 0);
    }
    closedir(entries);
}

static bool is_owner_alive(const struct tfd_announced *session, int32_t pid)
{
    uint64_t start = tfd_process_start(pid);
    return start && start == atomic_load(&session->owner_start);
}

/* Claim an entry that is free or that a killed process left; return false if it is taken. */
static bool claim(struct tfd_announced *session)
{
    int32_t owner = atomic_load(&session->owner_pid);
    if (owner == CLAIMED || (owner && is_owner_alive(session, owner)))
        return false;
    return atomic_compare_exchange_strong(&session->owner_pid, &owner, CLAIMED);
}

void tfd_rendezvous_announce(const char *spool_directory)
{
    static bool swept;
    struct tfd_job_page *page = tfd_job_page();
    if (!swept && page)
        sweep();
    swept = page;
    for (size_t i = 0; page && i < TFD_JOB_SESSIONS; i++) {
        struct tfd_announced *session = &page->sessions[i];
        if (!claim(session))
            continue;
        snprintf(session->directory, sizeof session->directory, "%s", spool_directory);
        atomic_store(&session->owner_start, tfd_process_start((int32_t)getpid()));
        atomic_store(&session->owner_pid, (int32_t)getpid());
        atomic_fetch_add(&page->counter, 1);
        return;
    }
}

void tfd_rendezvous_withdraw(void)
{
    bool any = false;
    struct tfd_job_page *page = tfd_job_page();
    for (size_t i = 0; page && i < TFD_JOB_SESSIONS; i++) {
        int32_t own = (int32_t)getpid();
        any |= atomic_compare_exchange_strong(&page->sessions[i].owner_pid, &own, 0);
    }
    if (any)
        atomic_fetch_add(&page->counter, 1);
}

/* Copy the folder's path; return false if the owner withdrew meanwhile, since another session may have its place. */
static bool read_session(const struct tfd_announced *session, int32_t owner, char *directory)
{
    if (atomic_load(&session->owner_pid) != owner)
        return false;
    memcpy(directory, session->directory, TFD_SPOOL_PATH_MAX);
    directory[TFD_SPOOL_PATH_MAX - 1] = '\0';
    atomic_thread_fence(memory_order_seq_cst);
    return atomic_load(&session->owner_pid) == owner && is_owner_alive(session, owner);
}

bool tfd_rendezvous_find(char *spool_directory, size_t capacity)
{
    char directory[TFD_SPOOL_PATH_MAX];
    const struct tfd_job_page *page = tfd_job_page();
    int32_t ancestor = (int32_t)getppid();
    for (int depth = 0; page && depth < MAX_ANCESTORS && ancestor > 0; depth++) {
        for (size_t i = 0; i < TFD_JOB_SESSIONS; i++) {
            if (!read_session(&page->sessions[i], ancestor, directory))
                continue;
            snprintf(spool_directory, capacity, "%s", directory);
            return true;
        }
        ancestor = tfd_process_parent(ancestor);
    }
    return false;
}
