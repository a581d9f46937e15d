/* The one variable that programs find in their environment: "job:core" from the import of tfdarshan on, and
 * "job:core:spool folder" while a session records. The job may be empty (its name was taken away), and so may the core
 * (its path holds a colon): then the spool folder has a link to it. */
#ifndef TFD_SESSION_NAME_H
#define TFD_SESSION_NAME_H

#include <stdbool.h>

#define TFD_SESSION_VARIABLE "TFDARSHAN_SESSION"
#define TFD_WAITING_LIBRARY                                                                                  \
    "libtfdarshan_waiting.so" /* in the core's folder: for programs that find no spool folder */

struct tfd_session_name {
    const char *job, *core; /* of these lengths, without a NUL */
    int job_length, core_length;
    const char *spool_folder; /* NULL: no session records */
};

/* False where the text, which may be NULL, is no such name. */
bool tfd_session_name_read(const char *text, struct tfd_session_name *name);
/* Makes "TFDARSHAN_SESSION=..." of it, to be freed. NULL where there is no memory. */
char *tfd_session_name_setting(const struct tfd_session_name *name);
/* The spool folder that this process's environment names; NULL where it names none. */
const char *tfd_named_spool_folder(void);

#endif
