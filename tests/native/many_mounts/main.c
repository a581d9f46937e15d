/* A file is on its own mount also where hundreds of others were mounted before, as on machines with many containers. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "recorded.h"

#define MOUNTS 600

static char folder[PATH_MAX], last[PATH_MAX], path[PATH_MAX];

/* For this process alone: they end with it. */
static bool mount_all(void)
{
    if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
        return false;
    for (int i = 0; i < MOUNTS; i++)
        CHECK(mount(folder, folder, NULL, MS_BIND, NULL) == 0);
    return mount("none", last, "tmpfs", 0, NULL) == 0;
}

static const struct tfd_file *file_named(const struct tfd_spool *spool, const char *name)
{
    for (uint32_t i = TFD_FIRST_FILE; i < atomic_load(&spool->header->file_count); i++) {
        const struct tfd_file *file = tfd_file_at(spool, i);
        if (file->path_length == strlen(name) && !memcmp(tfd_at(spool, file->path), name, file->path_length))
            return file;
    }
    return NULL;
}

static void check_mount(const char *directory)
{
    struct tfd_spool spool = recorded_open(directory, getpid());
    const struct tfd_file *file = file_named(&spool, path);
    CHECK(file && file->mount < spool.header->mount_count);
    const struct tfd_mount *mount =
        (const struct tfd_mount *)tfd_at(&spool, spool.header->mounts) + file->mount;
    CHECK(!strcmp(tfd_at(&spool, mount->point), last));
    CHECK(!strcmp(tfd_at(&spool, mount->fs_type), "tmpfs"));
    recorded_close(&spool);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    check_path(folder, argv[1], "mounted");
    check_path(last, folder, "last");
    CHECK(mkdir(folder, 0700) == 0 && mkdir(last, 0700) == 0);
    if (!mount_all()) {
        fprintf(stderr, "this process may mount nothing\n");
        return CHECK_SKIP;
    }
    check_make_file(path, last, "data", 100);
    check_start(argv[1]);
    CHECK(close(open(path, O_RDONLY)) == 0);
    check_stop();
    check_mount(argv[1]);
    return 0;
}
