/* The addresses that a program takes of functions. In one that is not position independent they are part of
 * an instruction, and so can only be those of stubs in the program: for everybody in the process. */
#include "addresses.h"

read_function *address_of_read(void)
{
    return read;
}

fsync_function *address_of_fsync(void)
{
    return fsync;
}
