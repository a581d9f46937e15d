/* The page that the processes of a job share: a counter that changes whenever a session begins or ends, and the
 * sessions that record now (job/rendezvous.h).
 *
 * The environment names the job (job/session_name.h): the process that imported tfdarshan first. The page is a file
 * named after that process, made by who first needs it; a page of zeros is one in which no session was announced. That
 * process removes it at its end, or, where it was killed, the next job that announces a session. */
#ifndef TFD_JOB_PAGE_H
#define TFD_JOB_PAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spool/spool.h"

#define TFD_JOB_SESSIONS 15

struct tfd_announced {
    _Atomic int32_t owner_pid; /* 0: free */
    _Atomic uint64_t owner_start;
    char directory[TFD_SPOOL_PATH_MAX];
};

struct tfd_job_page {
    _Atomic uint32_t counter;
    struct tfd_announced sessions[TFD_JOB_SESSIONS];
};

/* The process that imported tfdarshan first. */
struct tfd_job {
    int32_t pid;
    uint64_t start, pid_namespace;
};

struct tfd_job tfd_job_of_this_process(void);
/* The job that the environment names; false where there is none, or where its number means another process. */
bool tfd_job_named(struct tfd_job *job);
/* The path of the core that its name leads to; false where it leads to none. */
bool tfd_job_core(char *path, size_t capacity);
bool tfd_job_is_living(const struct tfd_job *job);
/* This process removes the job's page when it ends, if the job is its own. */
void tfd_job_note(const struct tfd_job *job);

/* Maps the job's page, and makes it where it is not there and the job lives. NULL: it has none, or the page is not
 * ours. Allocates no memory. */
struct tfd_job_page *tfd_job_page_open(void);
/* NULL before that. */
struct tfd_job_page *tfd_job_page(void);
/* Beginning of the names of pages in this process's namespace; its length. */
size_t tfd_job_page_prefix(char *out, size_t capacity);
/* Where it lies, as a folder; NULL where none is mapped. */
const char *tfd_job_page_folder(void);
/* The counter, where no session is announced; else another value. */
uint32_t tfd_job_page_quiet_counter(void);

#endif
