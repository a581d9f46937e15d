/* The one variable that programs find in their environment: "job:library" from the import of tfdarshan on, and
 * "job:library:spool folder" while a session records. The library is what an interpreter loads that starts: the core if a
 * session records, else the one that waits for sessions. Job (its name was taken away) and library (none can be named)
 * may be empty. */
#ifndef TFD_SESSION_NAME_H
#define TFD_SESSION_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define TFD_SESSION_VARIABLE "TFDARSHAN_SESSION"
#define TFD_CORE_LIBRARY "_core.abi3.so"
#define TFD_WAITING_LIBRARY "libtfdarshan_waiting.so" /* in the core's folder */

struct tfd_session_name {
    const char *job, *library; /* of these lengths, without a NUL */
    int job_length, library_length;
    const char *spool_folder; /* NULL: no session records */
};

/* False where the text, which may be NULL, is no such name. */
bool tfd_session_name_read(const char *text, struct tfd_session_name *name);
/* The path of another library in the folder of the one that is named; false where none is. */
bool tfd_session_name_beside(const struct tfd_session_name *name, const char *library, char *path,
                             size_t capacity);
/* Makes "TFDARSHAN_SESSION=..." of it, to be freed. NULL where there is no memory. */
char *tfd_session_name_setting(const struct tfd_session_name *name);
/* The spool folder that this process's environment names; NULL where it names none. */
const char *tfd_named_spool_folder(void);

#endif
