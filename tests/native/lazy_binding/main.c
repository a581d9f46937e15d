/* A slot that the loader has not bound yet is patched too. Undo restores the loader's stub, which still works. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libgen.h>
#include <sys/uio.h>

#include "hooks/elf_image.h"
#include "recorded.h"

static void **preadv_slot;

static void find_preadv(void *context, const struct tfd_image *image, const struct tfd_slot_place *place)
{
    (void)context, (void)image;
    if (!strcmp(place->symbol, "preadv") && place->is_jump_slot)
        preadv_slot = place->address;
}

static int look_at_program(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct tfd_image image;
    CHECK(tfd_image_read(info, &image));
    tfd_image_visit_slots(&image, find_preadv, context);
    return 1; /* the first object is the program */
}

/* What a thread does that looked the function up before attaching, and stores it after. */
static void bind_preadv_late(void)
{
    dl_iterate_phdr(look_at_program, NULL);
    CHECK(preadv_slot);
    void *wrapper = *preadv_slot, *definition = dlsym(RTLD_DEFAULT, "preadv");
    CHECK(definition && wrapper != definition);
    *preadv_slot = definition;
}

/* The next look at new libraries finds the slot and patches it again. */
static void load_library(void)
{
    char library[PATH_MAX] = "";
    CHECK(readlink("/proc/self/exe", library, sizeof library - 16) > 0);
    void *late = dlopen(strcat(dirname(library), "/liblate.so"), RTLD_NOW);
    CHECK(late && dlsym(late, "late"));
}

static void check_slot_bound_meanwhile(const char *directory, const char *path, int fd)
{
    struct iovec vector = {(char[10]){0}, 8};
    check_start(directory);
    bind_preadv_late();
    load_library();
    CHECK_EQUAL(preadv(fd, &vector, 1, 0), 8);
    check_stop();
    CHECK_EQUAL(preadv(fd, &vector, 1, 0), 8);
    CHECK_EQUAL(recorded_here(directory, path, TFD_OP_PREADV).bytes, 8);
}

/* The first call of each of these in the process happens where its name says. */
static void first_call_while_attached(int fd)
{
    char bytes[10];
    CHECK_EQUAL(pread(fd, bytes, 7, 0), 7);
}

static void first_call_after_detach(int fd)
{
    struct iovec vector = {(char[10]){0}, 9};
    CHECK_EQUAL(readv(fd, &vector, 1), 9);
}

int main(int argc, char **argv)
{
    char path[PATH_MAX];
    CHECK(argc >= 2);
    check_make_file(path, argv[1], "data", 1000);
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0);
    for (int round = 0; round < 2; round++) {
        check_start(argv[1]);
        first_call_while_attached(fd);
        if (round)
            first_call_after_detach(fd);
        check_stop();
        first_call_after_detach(fd);
        first_call_while_attached(fd);
        CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_PREAD).bytes, 7);
        CHECK_EQUAL(recorded_here(argv[1], path, TFD_OP_READV).calls, round);
        check_drop_spool(argv[1], getpid());
    }
    check_slot_bound_meanwhile(argv[1], path, fd);
    return 0;
}
