/* Full RELRO: read-only slots are patched, and every page keeps its protection. No page is ever writable and executable
 * at once. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>

#include "mappings.h"
#include "recorded.h"

static int protections_set, writable_and_executable;

/* Stands before the C library's, also for the core. */
int mprotect(void *address, size_t length, int protection)
{
    protections_set++;
    writable_and_executable += (protection & PROT_WRITE) && (protection & PROT_EXEC);
    return (int)syscall(SYS_mprotect, address, length, protection);
}

int main(int argc, char **argv)
{
    char path[PATH_MAX], byte;
    CHECK(argc >= 2);
    check_make_file(path, argv[1], "data", 1);
    char *before = mappings_of_files(argv[1], &writable_and_executable);
    check_start(argv[1]);
    CHECK(protections_set > 0);
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && read(fd, &byte, 1) == 1 && close(fd) == 0);
    char *during = mappings_of_files(argv[1], &writable_and_executable);
    check_stop();
    char *after = mappings_of_files(argv[1], &writable_and_executable);
    CHECK(!strcmp(before, during));
    CHECK(!strcmp(before, after));
    CHECK_EQUAL(writable_and_executable, 0);
    CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_READ).calls, 1);
    free(before);
    free(during);
    free(after);
    return 0;
}
