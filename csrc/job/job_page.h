/* The page that the processes of a job share: a counter that changes whenever a session begins or ends, and the
 * sessions that record now (job/rendezvous.h).
 *
 * The environment names the job (job/session_name.h): the process that imported tfdarshan first. The page is a file
 * named after that process, made by the process that first needs it. A page of zeros announces no session. The job's
 * first process removes the page at its end; if it was killed, the next job that announces a session does. */
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
/* Find the job that the environment names; return false if there is none or its number means another process. */
bool tfd_job_named(struct tfd_job *job);
/* Find the path of the core beside the library that the environment names; return false if it names none. */
bool tfd_job_core(char *path, size_t capacity);
bool tfd_job_is_living(const struct tfd_job *job);
/* Remove the job's page when this process ends, if the job is its own. */
void tfd_job_note(const struct tfd_job *job);

/* Map the job's page, and make it if there is none and the job lives; return NULL if there is no job, or if the page is
 * another user's. Allocates no memory. */
struct tfd_job_page *tfd_job_page_open(void);
/* Return the mapped page, NULL if none is. */
struct tfd_job_page *tfd_job_page(void);
/* Write the prefix of the names of pages in this process's namespace; return its length. */
size_t tfd_job_page_prefix(char *out, size_t capacity);
/* Return the folder of the mapped page, NULL if none is mapped. */
const char *tfd_job_page_folder(void);
/* Return the counter if no session is announced, else another value. */
uint32_t tfd_job_page_quiet_counter(void);

#endif
