/* Its constructor waits for what the program does meanwhile; the loader's lock is held all the time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

typedef void while_loading_function(void);

__attribute__((constructor)) static void wait_for_program(void)
{
    union {
        void *object;
        while_loading_function *function;
    } program = {dlsym(RTLD_DEFAULT, "while_loading")};
    if (program.object)
        program.function();
}
