/* Where a session meets the processes of its job that are older than the session: the job's page (job/job_page.h). */
#ifndef TFD_RENDEZVOUS_H
#define TFD_RENDEZVOUS_H

#include <stdbool.h>
#include <stddef.h>

/* Name this process's job in its environment, unless the process belongs to a job whose first process lives. */
void tfd_rendezvous_name_job(const char *core_path);

/* Announce on the page that this process's session records into `spool_directory`. */
void tfd_rendezvous_announce(const char *spool_directory);
void tfd_rendezvous_withdraw(void);
/* Find the spool folder of the session of this process's nearest ancestor that records; return false if there is
 * none. */
bool tfd_rendezvous_find(char *spool_directory, size_t capacity);

#endif
