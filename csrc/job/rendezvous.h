/* Where a session and the processes of its job meet that are older: the job's page (job/job_page.h). */
#ifndef TFD_RENDEZVOUS_H
#define TFD_RENDEZVOUS_H

#include <stdbool.h>
#include <stddef.h>

/* Names this process's job in its environment, unless it belongs to one already whose first process lives. */
void tfd_rendezvous_name_job(const char *core_path);

/* Says that this process's session records into `spool_directory`. */
void tfd_rendezvous_announce(const char *spool_directory);
void tfd_rendezvous_withdraw(void);
/* The spool folder of a session that an ancestor of this process records, the nearest one's. */
bool tfd_rendezvous_find(char *spool_directory, size_t capacity);

#endif
