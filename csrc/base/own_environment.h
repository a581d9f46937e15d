/* A variable in the process's environment that programs started by it inherit, and the library that those without
 * Python are to load: that stands in the environments of programs alone. */
#ifndef TFD_OWN_ENVIRONMENT_H
#define TFD_OWN_ENVIRONMENT_H

#include <stdbool.h>

#define TFD_SESSION_VARIABLE "TFDARSHAN_SESSION"
#define TFD_RENDEZVOUS_VARIABLE "TFDARSHAN_RENDEZVOUS"

/* Sets a variable. setenv would free the array of variables that other threads' getenv may be reading just now: this
 * one puts another array in its place and frees none. False where there is no memory. */
bool tfd_environment_set(const char *name, const char *value);
/* Sets TFDARSHAN_SESSION so. `library` may be NULL. */
bool tfd_environment_offer(const char *directory, const char *library);
void tfd_environment_withdraw(void);
/* "TFDARSHAN_SESSION=<directory>" while it is offered, else NULL: for those who are given another environment. */
const char *tfd_environment_offered(void);
/* The library's path while it is offered, else NULL. */
const char *tfd_environment_library(void);

#endif
