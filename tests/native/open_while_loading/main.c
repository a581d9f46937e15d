/* A thread runs a library's constructor, which waits for a lock of the host, while the thread that holds that lock
 * opens files. Without us none of these calls takes the loader's lock. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libgen.h>
#include <pthread.h>
#include <semaphore.h>

#include "recorded.h"

#define LONGEST_WAIT_S 30

static char path[PATH_MAX];
static sem_t is_loading, has_opened;

void while_loading(void);
void while_loading(void)
{
    sem_post(&is_loading);
    while (sem_wait(&has_opened))
        ;
}

static void *load(void *library)
{
    CHECK(dlopen(library, RTLD_NOW | RTLD_LOCAL));
    return NULL;
}

int main(int argc, char **argv)
{
    char library[PATH_MAX], folder[PATH_MAX] = "";
    pthread_t loader;
    CHECK(argc >= 2 && sem_init(&is_loading, 0, 0) == 0 && sem_init(&has_opened, 0, 0) == 0);
    CHECK(readlink("/proc/self/exe", folder, sizeof folder - 1) > 0);
    check_make_file(path, argv[1], "data", 1);
    check_start(argv[1]);
    alarm(LONGEST_WAIT_S);
    check_path(library, dirname(folder), "libconstructor.so");
    CHECK(pthread_create(&loader, NULL, load, library) == 0);
    while (sem_wait(&is_loading))
        ;
    int fd = open(path, O_RDONLY);
    FILE *stream = fopen(path, "r");
    CHECK(fd >= 0 && stream && close(fd) == 0 && fclose(stream) == 0);
    sem_post(&has_opened);
    CHECK(pthread_join(loader, NULL) == 0);
    check_stop();
    CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_OPEN).calls, 1);
    CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_FOPEN).calls, 1);
    return 0;
}
