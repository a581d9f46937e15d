/* Each call of this program and of the libraries that it loads is recorded once, whatever the kind of its slot, and
 * every slot and page is restored afterwards.
 *
 * In a program that is not position independent, the address of read in an instruction is that of a stub in the
 * program. Then every library's pointer to read holds that stub too, not libc's function. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <libgen.h>

#include "addresses.h"
#include "mappings.h"
#include "recorded.h"

#define LIBRARIES 12
#define BYTES 10
/* The libraries' calls, the program's own of its kind, and those through addresses that it takes. */
#define CALLS (LIBRARIES + 2)

typedef int read_and_sync_function(int, char *, size_t);

union symbol {
    void *object;
    read_and_sync_function *function;
};

extern char end; /* of the program's memory */

int read_and_sync(int fd, char *buffer, size_t bytes);

static int by_taken_addresses(int fd, char *buffer, size_t bytes)
{
    read_function *read_pointer = address_of_read();
    fsync_function *fsync_pointer = address_of_fsync();
#if !defined(__PIE__) && !defined(__PIC__)
    CHECK((uintptr_t)read_pointer < (uintptr_t)&end && (uintptr_t)fsync_pointer < (uintptr_t)&end);
#endif
    return read_pointer(fd, buffer, bytes) == (ssize_t)bytes && fsync_pointer(fd) == 0 ? 0 : -1;
}

static int load_libraries(read_and_sync_function **functions)
{
    char folder[PATH_MAX] = "", path[2 * PATH_MAX];
    int count = 0;
    CHECK(readlink("/proc/self/exe", folder, sizeof folder - 1) > 0);
    DIR *entries = opendir(dirname(folder));
    CHECK(entries);
    for (struct dirent *entry; (entry = readdir(entries));) {
        if (strncmp(entry->d_name, "libcalls_", 9) || count == LIBRARIES)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        void *library = dlopen(path, RTLD_LAZY);
        CHECK(library);
        functions[count++] = (union symbol){dlsym(library, "read_and_sync")}.function;
        CHECK(functions[count - 1]);
    }
    closedir(entries);
    return count;
}

static void call_all(int fd, read_and_sync_function *const *functions)
{
    char buffer[BYTES];
    for (int i = 0; i < CALLS; i++)
        CHECK(functions[i](fd, buffer, BYTES) == 0);
}

int main(int argc, char **argv)
{
    char path[PATH_MAX];
    int executable = 0;
    read_and_sync_function *functions[CALLS];
    CHECK(argc >= 2);
    CHECK_EQUAL(load_libraries(functions), LIBRARIES);
    functions[LIBRARIES] = read_and_sync;
    functions[LIBRARIES + 1] = by_taken_addresses;
    check_make_file(path, argv[1], "data", 100000);
    int fd = open(path, O_RDWR);
    CHECK(fd >= 0);
    for (int round = 0; round < 3;
         round++) { /* slots that are bound lazily: in the first one they are not yet */
        char *before = mappings_of_files(argv[1], &executable);
        check_start(argv[1]);
        call_all(fd, functions);
        check_stop();
        char *after = mappings_of_files(argv[1], &executable);
        CHECK(!strcmp(before, after));
        free(before);
        free(after);
        CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_READ).calls, CALLS);
        CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_READ).bytes, CALLS * BYTES);
        CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_FSYNC).calls, CALLS);
        CHECK_EQUAL(recorded_here(argv[1], NULL, -1).calls, 2 * CALLS);
        check_drop_spool(argv[1], getpid());
        call_all(fd, functions);
    }
    CHECK_EQUAL(executable, 0);
    return 0;
}
