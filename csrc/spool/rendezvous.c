#define _GNU_SOURCE
#include "spool/rendezvous.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own_environment.h"
#include "spool/join_offer.h"
#include "spool/spool.h"

#define PREFIX "tfdarshan-job-"
#define MAX_SESSIONS 15
#define MAX_ENTRIES 65536 /* that are looked through for pages of killed jobs */
#define MAX_ANCESTORS 64
#define CLAIMED (-1)

struct announced {
    _Atomic int32_t owner_pid; /* 0: free */
    _Atomic uint64_t owner_start;
    char directory[TFD_SPOOL_PATH_MAX];
};

struct page {
    _Atomic uint32_t counter;
    struct announced sessions[MAX_SESSIONS];
};

struct job {
    int pid;
    unsigned long long start, pid_namespace;
};

static const _Atomic uint32_t never_counted;
static struct page *page;
static char page_path[TFD_SPOOL_PATH_MAX];
static struct job ended_with_us; /* pid: in a child of fork another process's */

static bool is_living(const struct job *job)
{
    return job->start && tfd_process_start(job->pid) == job->start;
}

static struct job own_job(void)
{
    int pid = (int)getpid();
    return (struct job){pid, tfd_process_start(pid), tfd_own_pid_namespace()};
}

/* Not where the number means another process. */
static bool named_job(struct job *job)
{
    const char *text = getenv(TFD_RENDEZVOUS_VARIABLE);
    return text && sscanf(text, "%d-%llu-%llu:", &job->pid, &job->start, &job->pid_namespace) == 3 &&
           job->pid_namespace == tfd_own_pid_namespace();
}

/* Also where it made another program of itself. */
static void note_own(const struct job *job)
{
    if (job->pid == (int)getpid() && is_living(job))
        ended_with_us = *job;
}

void tfd_rendezvous_name_job(const char *core_path)
{
    char value[TFD_SPOOL_PATH_MAX + 64];
    struct job job;
    if (named_job(&job) && is_living(&job)) {
        note_own(&job);
        return;
    }
    job = ended_with_us = own_job();
    int length =
        snprintf(value, sizeof value, "%d-%llu-%llu:%s", job.pid, job.start, job.pid_namespace, core_path);
    if (length > 0 && (size_t)length < sizeof value)
        tfd_environment_set(TFD_RENDEZVOUS_VARIABLE, value);
}

/* Of this user and version: who meets at a page runs the same core. */
static int prefix_of(char *out, size_t capacity, unsigned long long pid_namespace)
{
    return snprintf(out, capacity, PREFIX "%u-%u-%llu-", (unsigned)TFD_SPOOL_VERSION, (unsigned)geteuid(),
                    pid_namespace);
}

static bool path_of(const char *folder, const struct job *job)
{
    char prefix[96];
    prefix_of(prefix, sizeof prefix, job->pid_namespace);
    int length = snprintf(page_path, sizeof page_path, "%s/%s%d-%llu", folder, prefix, job->pid, job->start);
    return length > 0 && (size_t)length < sizeof page_path;
}

static bool is_ours(const struct stat *status)
{
    return status->st_uid == geteuid() && S_ISREG(status->st_mode) && status->st_nlink == 1 &&
           !(status->st_mode & 077);
}

/* Its blocks are there before it is mapped: a full file system must not end who writes to it. */
static struct page *map_page(int fd)
{
    struct stat status;
    if (fstat(fd, &status) || !is_ours(&status))
        return NULL;
    void *mapped = fallocate(fd, 0, 0, sizeof(struct page))
                       ? MAP_FAILED
                       : mmap(NULL, sizeof(struct page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED && !status.st_size) /* then nobody else could map it either */
        unlink(page_path);
    return mapped == MAP_FAILED ? NULL : mapped;
}

static bool open_in(const char *folder, const struct job *job, int flags)
{
    if (!path_of(folder, job))
        return false;
    int fd = open(page_path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    if (fd < 0)
        return false;
    page = map_page(fd);
    close(fd);
    return page;
}

/* The same for all processes of the job, whatever their environment is. */
static const char *const folders[] = {"/dev/shm", "/tmp"};
#define FOLDERS ((int)(sizeof folders / sizeof *folders))

/* One that somebody has made goes before a better place for a new one. */
bool tfd_rendezvous_open(void)
{
    struct job job;
    if (page || !named_job(&job))
        return page;
    for (int i = 0; i < 2 * FOLDERS && !page; i++)
        open_in(folders[i % FOLDERS], &job, i < FOLDERS ? 0 : O_CREAT);
    note_own(&job);
    return page;
}

const _Atomic uint32_t *tfd_rendezvous_counter(void)
{
    return page ? &page->counter : &never_counted;
}

static void sweep(void)
{
    char prefix[96], folder[TFD_SPOOL_PATH_MAX];
    size_t length = (size_t)prefix_of(prefix, sizeof prefix, tfd_own_pid_namespace());
    strcpy(folder, page_path);
    *strrchr(folder, '/') = '\0';
    DIR *entries = opendir(folder);
    if (!entries)
        return;
    const struct dirent *entry;
    for (unsigned left = MAX_ENTRIES; left && (entry = readdir(entries)); left--) {
        struct job job;
        if (!strncmp(entry->d_name, prefix, length) &&
            sscanf(entry->d_name + length, "%d-%llu", &job.pid, &job.start) == 2 && !is_living(&job))
            unlinkat(dirfd(entries), entry->d_name, 0);
    }
    closedir(entries);
}

static bool is_owner_alive(const struct announced *session, int32_t pid)
{
    uint64_t start = tfd_process_start(pid);
    return start && start == atomic_load(&session->owner_start);
}

/* One that is free, or that a killed process left. */
static bool claim(struct announced *session)
{
    int32_t owner = atomic_load(&session->owner_pid);
    if (owner == CLAIMED || (owner && is_owner_alive(session, owner)))
        return false;
    return atomic_compare_exchange_strong(&session->owner_pid, &owner, CLAIMED);
}

void tfd_rendezvous_announce(const char *spool_directory)
{
    static bool swept;
    if (!swept && page)
        sweep();
    swept = page;
    for (size_t i = 0; page && i < MAX_SESSIONS; i++) {
        struct announced *session = &page->sessions[i];
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
    for (size_t i = 0; page && i < MAX_SESSIONS; i++) {
        int32_t own = (int32_t)getpid();
        any |= atomic_compare_exchange_strong(&page->sessions[i].owner_pid, &own, 0);
    }
    if (any)
        atomic_fetch_add(&page->counter, 1);
}

/* The owner may withdraw while it is read, and another take its place. */
static bool read_session(const struct announced *session, int32_t owner, char *directory)
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
    int32_t ancestor = (int32_t)getppid();
    for (int depth = 0; page && depth < MAX_ANCESTORS && ancestor > 0; depth++) {
        for (size_t i = 0; i < MAX_SESSIONS; i++) {
            if (!read_session(&page->sessions[i], ancestor, directory))
                continue;
            snprintf(spool_directory, capacity, "%s", directory);
            return true;
        }
        ancestor = tfd_process_parent(ancestor);
    }
    return false;
}

__attribute__((destructor)) static void remove_page_at_exit(void)
{
    for (int i = 0; ended_with_us.pid == (int)getpid() && i < FOLDERS; i++)
        if (path_of(folders[i], &ended_with_us))
            unlink(page_path);
}
