/* The same, linked against another library. */
#include "libuser.c"
