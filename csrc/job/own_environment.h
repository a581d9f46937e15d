/* The variable in this process's environment that its programs inherit (job/session_name.h), and the library that
 * programs without Python load, which is named in the environments of programs only. Setting the variable frees and
 * moves nothing, since another thread may be in getenv(3); setenv(3) would. */
#ifndef TFD_OWN_ENVIRONMENT_H
#define TFD_OWN_ENVIRONMENT_H

#include <stdbool.h>

/* Name the job, before or in a session that is named already; return false if there is no memory. */
bool tfd_environment_name_job(const char *job, const char *core_path);
/* Name the session's core and spool folder behind the job; return false if there is no memory. `library` may be
 * NULL. */
bool tfd_environment_offer(const char *core_path, const char *spool_folder, const char *library);
/* Restore the job's name alone, or remove the variable if no job was named. */
void tfd_environment_withdraw(void);
/* Return "TFDARSHAN_SESSION=..." while a session is offered, else NULL. It is for programs that are started with
 * another environment. */
const char *tfd_environment_offered(void);
/* Return true if the job has changed the variable in the process's own environment. */
bool tfd_environment_lacks_offer(void);
/* Return the offered session's spool folder, else NULL. */
const char *tfd_environment_offered_folder(void);
/* Return the path of the library for programs while a session is offered, else NULL. */
const char *tfd_environment_library(void);

#endif
