/* Finds libbyname.so by bare name through its own RUNPATH of $ORIGIN, and asks for the next definition of a symbol. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

int marker(void);
int marker(void)
{
    return 1;
}

void *outer_open(void);
void *outer_open(void)
{
    return dlopen("libbyname.so", RTLD_NOW | RTLD_LOCAL);
}

/* RTLD_NEXT depends on the address dlsym is called from. */
int outer_next_marker(void);
int outer_next_marker(void)
{
    union {
        void *object;
        int (*function)(void);
    } next = {dlsym(RTLD_NEXT, "marker")};
    return next.object ? next.function() : -1;
}
