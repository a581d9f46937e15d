/* Where the processes of a job meet that are older than a session: a page that they share, with a counter that
 * changes whenever a session begins or ends, and the sessions that record now.
 *
 * The environment names the job (TFDARSHAN_RENDEZVOUS): the process that imported tfdarshan first, and the core that its
 * programs load. The page is a file named after that process, made by who first needs it; a page of zeros is one in
 * which no session was announced. That process removes it at its end, or, where it was killed, the next job that
 * announces a session. */
#ifndef TFD_RENDEZVOUS_H
#define TFD_RENDEZVOUS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names this process's job in its environment, unless it belongs to one already whose first process lives. */
void tfd_rendezvous_name_job(const char *core_path);
/* Maps the job's page; false: it has none, or the page is not ours. Allocates no memory. */
bool tfd_rendezvous_open(void);
/* How often a session began or ended; 0 for good where no page is mapped. */
const _Atomic uint32_t *tfd_rendezvous_counter(void);

/* Says that this process's session records into `spool_directory`. */
void tfd_rendezvous_announce(const char *spool_directory);
void tfd_rendezvous_withdraw(void);
/* The spool folder of a session that an ancestor of this process records, the nearest one's. */
bool tfd_rendezvous_find(char *spool_directory, size_t capacity);

#endif
