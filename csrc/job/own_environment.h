/* The variable in the process's environment that programs started by it inherit (job/session_name.h), and the library
 * that those without Python are to load: that stands in the environments of programs alone. Who sets it frees nothing
 * and moves nothing, for other threads' getenv may be reading just now, as setenv does not heed. */
#ifndef TFD_OWN_ENVIRONMENT_H
#define TFD_OWN_ENVIRONMENT_H

#include <stdbool.h>

/* Names the job, before or in a session that is named already. False where there is no memory. */
bool tfd_environment_name_job(const char *job, const char *core_path);
/* Names the session's core and spool folder behind the job. `library` may be NULL. False where there is no memory. */
bool tfd_environment_offer(const char *core_path, const char *spool_folder, const char *library);
/* Leaves the job's name alone there, as it was before; where there was none, nothing. */
void tfd_environment_withdraw(void);
/* "TFDARSHAN_SESSION=..." while a session is offered, else NULL: for those who are given another environment. */
const char *tfd_environment_offered(void);
/* Whether the process's own environment says another thing, since the job has changed it. */
bool tfd_environment_lacks_offer(void);
/* Its spool folder, else NULL. */
const char *tfd_environment_offered_folder(void);
/* The library's path while it is offered, else NULL. */
const char *tfd_environment_library(void);

#endif
