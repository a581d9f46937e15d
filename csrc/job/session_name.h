/* The variable that programs find in their environment: "job:library" from the import of tfdarshan on, and
 * "job:library:spool folder" while a session records. A starting interpreter loads the library: the core if a session
 * records, else the library for late joins. The job is empty if its name was removed, the library if none can be
 * named. */
#ifndef TFD_SESSION_NAME_H
#define TFD_SESSION_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define TFD_SESSION_VARIABLE "TFDARSHAN_SESSION"
#define TFD_CORE_LIBRARY "_core.abi3.so"
#define TFD_WAITING_LIBRARY "libtfdarshan_waiting.so" /* in the core's folder */

struct tfd_session_name {
    const char *job, *library; /* with the lengths below, without a NUL */
    int job_length, library_length;
    const char *spool_folder; /* NULL: no session records */
};

/* Read a name; return false if the text, which may be NULL, is not one. */
bool tfd_session_name_read(const char *text, struct tfd_session_name *name);
/* Write the path of another library in the folder of the named one; return false if none is named. */
bool tfd_session_name_beside(const struct tfd_session_name *name, const char *library, char *path,
                             size_t capacity);
/* Return "TFDARSHAN_SESSION=...", which the caller frees; NULL if there is no memory. */
char *tfd_session_name_setting(const struct tfd_session_name *name);
/* Return the spool folder that this process's environment names, NULL if it names none. */
const char *tfd_named_spool_folder(void);

#endif
