#define _GNU_SOURCE
#include "job/job_page.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process_identity.h"
#include "job/session_name.h"

static struct tfd_job_page *page;
static const char *page_folder;
static struct tfd_job ended_with_us; /* in a child of fork, its pid is another process's */

struct tfd_job tfd_job_of_this_process(void)
{
    int32_t pid = (int32_t)getpid();
    return (struct tfd_job){pid, tfd_process_start(pid), tfd_own_pid_namespace()};
}

static bool is_here(const struct tfd_job *job)
{
    return job->pid_namespace == tfd_own_pid_namespace();
}

/* Read a job, which is written "pid-start-namespace"; return false if it is not one. */
static bool read_job(const struct tfd_session_name *name, struct tfd_job *job)
{
    uint64_t numbers[3];
    const char *text = name->job_length ? name->job : NULL;
    for (int i = 0; text && i < 3; i++) {
        char *end;
        numbers[i] = strtoull(text, &end, 10);
        text = end != text && *end == "--:"[i] ? end + 1 : NULL;
    }
    if (!text || numbers[0] > INT32_MAX)
        return false;
    *job = (struct tfd_job){(int32_t)numbers[0], numbers[1], numbers[2]};
    return true;
}

static bool read_own_name(struct tfd_session_name *name, struct tfd_job *job)
{
    return tfd_session_name_read(getenv(TFD_SESSION_VARIABLE), name) && read_job(name, job);
}

bool tfd_job_named(struct tfd_job *job)
{
    struct tfd_session_name name;
    return read_own_name(&name, job) && is_here(job);
}

bool tfd_job_core(char *path, size_t capacity)
{
    struct tfd_job job;
    struct tfd_session_name name;
    return read_own_name(&name, &job) && tfd_session_name_beside(&name, TFD_CORE_LIBRARY, path, capacity);
}

bool tfd_job_is_living(const struct tfd_job *job)
{
    return job->start && tfd_process_start(job->pid) == job->start;
}

/* The process is the same after exec(2). */
void tfd_job_note(const struct tfd_job *job)
{
    if (job->pid == (int32_t)getpid() && tfd_job_is_living(job))
        ended_with_us = *job;
}

/* Prefix of the pages of this user and version: processes that share a page run the same core. */
static int prefix_of(char *out, size_t capacity, uint64_t pid_namespace)
{
    return snprintf(out, capacity, "tfdarshan-job-%u-%u-%llu-", (unsigned)TFD_SPOOL_VERSION,
                    (unsigned)geteuid(), (unsigned long long)pid_namespace);
}

size_t tfd_job_page_prefix(char *out, size_t capacity)
{
    return (size_t)prefix_of(out, capacity, tfd_own_pid_namespace());
}

struct path {
    char text[160];
};

static struct path path_of(const char *folder, const struct tfd_job *job)
{
    struct path path;
    char prefix[96];
    prefix_of(prefix, sizeof prefix, job->pid_namespace);
    snprintf(path.text, sizeof path.text, "%s/%s%d-%llu", folder, prefix, (int)job->pid,
             (unsigned long long)job->start);
    return path;
}

static bool is_ours(const struct stat *status)
{
    return status->st_uid == geteuid() && S_ISREG(status->st_mode) && status->st_nlink == 1 &&
           !(status->st_mode & 077);
}

/* The blocks are allocated before the page is mapped: a full file system must not end a process that writes to it. */
static struct tfd_job_page *map_page(int fd, const char *path)
{
    struct stat status;
    size_t bytes = sizeof(struct tfd_job_page);
    if (fstat(fd, &status) || !is_ours(&status))
        return NULL;
    bool is_whole = status.st_size == (off_t)bytes || !fallocate(fd, 0, 0, (off_t)bytes);
    void *mapped = is_whole ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (mapped == MAP_FAILED && !status.st_size) /* no other process could map it either */
        unlink(path);
    return mapped == MAP_FAILED ? NULL : mapped;
}

static bool open_in(const char *folder, const struct tfd_job *job, int flags)
{
    struct path path = path_of(folder, job);
    int fd = open(path.text, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    if (fd < 0)
        return false;
    page = map_page(fd, path.text);
    page_folder = page ? folder : NULL;
    close(fd);
    return page;
}

/* Folders of pages, the same for all processes of a job, whatever their environment. */
static const char folders[][16] = {"/dev/shm", "/tmp"};
#define FOLDERS (sizeof folders / sizeof *folders)

/* A page that exists in any of the folders goes before a new page in the first one. */
struct tfd_job_page *tfd_job_page_open(void)
{
    struct tfd_job job;
    struct tfd_session_name name;
    if (page || !read_own_name(&name, &job))
        return page;
    for (size_t i = 0; i < FOLDERS && !page; i++)
        open_in(folders[i], &job, 0);
    if (!page && is_here(&job) && tfd_job_is_living(&job))
        for (size_t i = 0; i < FOLDERS && !page; i++)
            open_in(folders[i], &job, O_CREAT);
    tfd_job_note(&job);
    return page;
}

struct tfd_job_page *tfd_job_page(void)
{
    return page;
}

const char *tfd_job_page_folder(void)
{
    return page_folder;
}

/* A session is announced before the counter changes. So a session that is announced after this check changes the
 * counter after it too. */
uint32_t tfd_job_page_quiet_counter(void)
{
    uint32_t counter = atomic_load(&page->counter);
    for (size_t i = 0; counter && i < TFD_JOB_SESSIONS; i++)
        if (atomic_load(&page->sessions[i].owner_pid))
            return counter - 1;
    return counter;
}

__attribute__((destructor)) static void remove_page_at_exit(void)
{
    for (size_t i = 0; ended_with_us.pid == (int32_t)getpid() && i < FOLDERS; i++)
        unlink(path_of(folders[i], &ended_with_us).text);
}
