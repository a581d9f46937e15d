/* Opens for reading get the copy of a staged file while copy and original are unchanged. All other opens get the
 * original. The contents tell which. */
#define _GNU_SOURCE
#include <sys/stat.h>

#include "children.h"
#include "recorded.h"

static char original[PATH_MAX], copy[PATH_MAX], other[PATH_MAX], gone[PATH_MAX], gone_copy[PATH_MAX];
static struct tfd_redirect_totals expected;
/* That no test waits for; another is chosen where one does. */
static const int64_t long_ns = 3600000000000;

/* Both are of one size, as a copy is. */
static int64_t make(char path[PATH_MAX], const char *directory, const char *name, char content)
{
    struct stat status;
    check_make_file(path, directory, name, 0);
    int fd = open(path, O_WRONLY);
    CHECK(fd >= 0 && write(fd, &content, 1) == 1 && fstat(fd, &status) == 0 && close(fd) == 0);
    return (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
}

static void check_holds(int fd, char content)
{
    char found = 0;
    CHECK(fd >= 0);
    CHECK_EQUAL(pread(fd, &found, 1, 0), 1);
    CHECK_EQUAL(found, content);
    CHECK(close(fd) == 0);
}

static void check_stream_holds(FILE *stream, char content)
{
    CHECK(stream);
    CHECK_EQUAL(fgetc(stream), content);
    CHECK(fclose(stream) == 0);
}

static void check_totals(int64_t copies, int64_t missing, int64_t stale)
{
    struct tfd_redirect_totals totals;
    expected.copies += (uint64_t)copies;
    expected.missing += (uint64_t)missing;
    expected.stale += (uint64_t)stale;
    tfd_redirect_totals(&totals);
    CHECK_EQUAL(totals.copies, expected.copies);
    CHECK_EQUAL(totals.missing, expected.missing);
    CHECK_EQUAL(totals.stale, expected.stale);
}

static void test_opens_for_reading_get_the_copy(void)
{
    errno = EXDEV;
    check_holds(open(original, O_RDONLY), 'c');
    check_holds(open64(original, O_RDONLY | O_CLOEXEC), 'c');
    check_holds(openat(AT_FDCWD, original, O_RDONLY), 'c');
    check_holds(openat64(AT_FDCWD, original, O_RDONLY), 'c');
    check_stream_holds(fopen(original, "r"), 'c');
    check_stream_holds(fopen64(original, "rb"), 'c');
    CHECK_EQUAL(errno, EXDEV);
    check_totals(6, 0, 0);
}

static void test_relative_paths_are_below_the_current_folder(const char *directory)
{
    check_holds(open("original", O_RDONLY), 'c');
    check_holds(open("./original", O_RDONLY), 'c');
    check_totals(2, 0, 0);
    CHECK(chdir("/") == 0);
    CHECK(open("original", O_RDONLY) < 0 && errno == ENOENT);
    check_holds(open(original + 1, O_RDONLY), 'c');
    CHECK(chdir(directory) == 0);
    check_totals(1, 0, 0);
}

/* A job may spell a path with empty components and ".", such as by joining "data/" and "/file". */
static void test_paths_are_found_however_they_are_spelled(const char *directory)
{
    char path[PATH_MAX + 32];
    static const char *const spellings[] = {"%s//original", "%s/./original", "//%s///././original"};
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        snprintf(path, sizeof path, spellings[i], directory);
        check_holds(open(path, O_RDONLY), 'c');
    }
    check_holds(open(".//./original", O_RDONLY), 'c');
    CHECK(open("original/", O_RDONLY) < 0 && errno == ENOTDIR);
    CHECK(open("original/.", O_RDONLY) < 0 && errno == ENOTDIR);
    CHECK(open("", O_RDONLY) < 0 && errno == ENOENT);
    check_totals(4, 0, 0);
}

/* A ".." leads back from where a link leads, not from where the link is. */
static void test_paths_that_lead_up_are_found_unless_a_link_leads_elsewhere(const char *directory)
{
    char path[PATH_MAX + 32], behind_link[PATH_MAX];
    CHECK(mkdir("inner", 0700) == 0 && mkdir("deep", 0700) == 0 && mkdir("deep/inner", 0700) == 0);
    CHECK(symlink("deep/inner", "link") == 0 && symlink("inner", "near") == 0);
    make(behind_link, directory, "deep/original", 'd');
    static const char *const spellings[] = {"%s/inner/../original", "%s/near/..//inner/.././original",
                                            "/../../%s/original", "%s/deep/inner/../../original"};
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        snprintf(path, sizeof path, spellings[i], directory);
        check_holds(open(path, O_RDONLY), 'c');
    }
    check_holds(open("inner/../original", O_RDONLY), 'c');
    check_holds(open("link/../original", O_RDONLY), 'd');
    CHECK(open("missing/../original", O_RDONLY) < 0 && errno == ENOENT);
    CHECK(open("original/../original", O_RDONLY) < 0 && errno == ENOTDIR);
    CHECK(chdir("inner") == 0);
    check_holds(open("../original", O_RDONLY), 'c');
    CHECK(chdir(directory) == 0);
    check_totals(6, 0, 0);
}

static void test_other_opens_get_the_original(void)
{
    check_holds(open(original, O_RDWR), 'o');
    check_holds(open(original, O_RDONLY | O_NOFOLLOW), 'o');
    check_holds(open(original, O_RDWR | O_CREAT, 0600), 'o');
    check_stream_holds(fopen(original, "r+"), 'o');
    check_holds(open(other, O_RDONLY), 'x');
    CHECK(open(original, O_RDONLY | O_DIRECTORY) < 0 && errno == ENOTDIR);
    check_totals(0, 0, 0);
}

static void test_without_a_copy_the_original_is_read(void)
{
    check_holds(open(gone, O_RDONLY), 'g');
    check_stream_holds(fopen(gone, "r"), 'g');
    check_totals(0, 2, 0);
}

static void test_a_copy_that_changed_is_left_alone(const char *path)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000}};
    CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
    check_holds(open(original, O_RDONLY), 'o');
    check_stream_holds(fopen(original, "r"), 'o');
    check_totals(0, 0, 2);
}

/* Changes the original as another host would: by calls that nobody here sees. */
static void change_elsewhere(const char *path)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000}};
    CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
}

static void test_a_look_holds_for_its_time(void)
{
    check_holds(open(original, O_RDONLY), 'c');
    change_elsewhere(original);
    check_holds(open(original, O_RDONLY), 'c');
    check_stream_holds(fopen(original, "r"), 'c');
    pid_t child = child_fork();
    if (!child) {
        check_holds(open(original, O_RDONLY), 'c');
        _exit(0);
    }
    CHECK_EQUAL(child_wait(child), 0);
    check_totals(4, 0, 0);
}

static void test_a_change_is_noticed_after_that_time(int64_t trusted_ns)
{
    check_holds(open(original, O_RDONLY), 'c');
    change_elsewhere(original);
    const struct timespec passed = {.tv_nsec = trusted_ns};
    nanosleep(&passed, NULL);
    pid_t child = child_fork();
    if (!child) {
        check_holds(open(original, O_RDONLY), 'o');
        _exit(0);
    }
    CHECK_EQUAL(child_wait(child), 0);
    check_holds(open(original, O_RDONLY), 'o');
    check_totals(1, 0, 2);
}

/* Each names the file by a call that may change it. */
static void by_open(void)
{
    close(open(original, O_RDWR));
}

/* A process of the core's own looks, which wait() does not find. */
static void test_a_look_ahead_holds_as_any(void)
{
    struct tfd_redirect_totals totals = {0};
    tfd_redirect_look_ahead(4, long_ns);
    while (totals.looked_ahead < 2) {
        const struct timespec moment = {.tv_nsec = 100000};
        nanosleep(&moment, NULL);
        tfd_redirect_totals(&totals);
    }
    CHECK(waitpid(-1, NULL, 0) < 0 && errno == ECHILD);
    change_elsewhere(original);
    check_holds(open(original, O_RDONLY), 'c');
    by_open();
    check_holds(open(original, O_RDONLY), 'o');
    check_totals(1, 0, 1);
}

static void by_creat(void)
{
    int fd = creat(original, 0600);
    CHECK(write(fd, "o", 1) == 1);
    close(fd);
}

static void by_open_from_another_folder(void)
{
    char folder[PATH_MAX];
    CHECK(getcwd(folder, sizeof folder) && chdir("/") == 0);
    close(open(original + 1, O_RDWR));
    CHECK(chdir(folder) == 0);
}

static void by_fopen(void)
{
    fclose(fopen("./original", "r+"));
}

static void by_freopen(void)
{
    FILE *stream = fopen(other, "r");
    fclose(freopen(original, "r+", stream));
}

static void by_truncate(void)
{
    CHECK(truncate(original, 1) == 0);
}

static void by_rename(void)
{
    CHECK(rename(original, "elsewhere") == 0 && rename("elsewhere", original) == 0);
}

static void by_renameat(void)
{
    CHECK(renameat(AT_FDCWD, original, AT_FDCWD, "elsewhere") == 0);
    CHECK(renameat2(AT_FDCWD, "elsewhere", AT_FDCWD, original, 0) == 0);
}

/* The folder that holds the files, and is the current one. */
static void by_rename_of_folder(void)
{
    char folder[PATH_MAX], elsewhere[PATH_MAX + 16];
    CHECK(getcwd(folder, sizeof folder));
    snprintf(elsewhere, sizeof elsewhere, "%s.elsewhere", folder);
    errno = EXDEV;
    CHECK(rename(folder, elsewhere) == 0 && rename(elsewhere, folder) == 0);
    CHECK_EQUAL(errno, EXDEV);
}

static void by_forked_child(void)
{
    pid_t child = child_fork();
    if (!child) {
        by_open();
        _exit(0);
    }
    CHECK_EQUAL(child_wait(child), 0);
}

static void test_what_the_job_itself_may_change_is_looked_at(void (*change)(void))
{
    check_holds(open(original, O_RDONLY), 'c');
    change();
    CHECK(close(open(original, O_RDONLY)) == 0);
    change_elsewhere(original);
    check_holds(open(original, O_RDONLY), 'o');
}

static void test_what_the_job_itself_deletes_is_gone(int (*delete)(const char *path))
{
    check_holds(open(original, O_RDONLY), 'c');
    CHECK(delete (original) == 0);
    CHECK(open(original, O_RDONLY) < 0 && errno == ENOENT);
    check_totals(1, 0, 1);
}

/* Called here, and not by their addresses: a table of those is not what is patched. */
static int delete_by_unlink(const char *path)
{
    return unlink(path);
}

static int delete_by_remove(const char *path)
{
    return remove(path);
}

static int delete_at(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

static void start(const char *directory, int64_t trusted_ns)
{
    const int64_t original_mtime = make(original, directory, "original", 'o');
    const int64_t copy_mtime = make(copy, directory, "copy", 'c');
    const int64_t gone_mtime = make(gone, directory, "gone", 'g');
    make(other, directory, "other", 'x');
    const struct tfd_staged_file files[] = {
        {original, copy, 1, original_mtime, copy_mtime},
        {gone, check_path(gone_copy, directory, "no copy"), 1, gone_mtime, gone_mtime},
    };
    CHECK(chdir(directory) == 0);
    CHECK(tfd_redirect_start(files, 2, trusted_ns) == 0);
    CHECK_EQUAL(tfd_redirect_start(files, 2, trusted_ns), -EBUSY);
    check_start(directory);
    expected = (struct tfd_redirect_totals){0};
}

static void stop(const char *directory)
{
    tfd_redirect_stop();
    check_holds(open(original, O_RDONLY), 'o');
    check_stop();
    check_drop_spool(directory, getpid());
}

static void test_looks(const char *directory)
{
    void (*const changes[])(void) = {by_open,
                                     by_open_from_another_folder,
                                     by_creat,
                                     by_fopen,
                                     by_freopen,
                                     by_truncate,
                                     by_rename,
                                     by_renameat,
                                     by_rename_of_folder,
                                     by_forked_child};
    int (*const deletions[])(const char *path) = {delete_by_unlink, delete_by_remove, delete_at};
    start(directory, long_ns);
    test_a_look_holds_for_its_time();
    stop(directory);
    start(directory, long_ns);
    test_a_look_ahead_holds_as_any();
    stop(directory);
    start(directory, 20000000);
    test_a_change_is_noticed_after_that_time(20000000);
    stop(directory);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        start(directory, long_ns);
        test_what_the_job_itself_may_change_is_looked_at(changes[i]);
        stop(directory);
    }
    for (size_t i = 0; i < sizeof deletions / sizeof *deletions; i++) {
        start(directory, long_ns);
        test_what_the_job_itself_deletes_is_gone(deletions[i]);
        make(original, directory, "original", 'o');
        stop(directory);
    }
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    char directory[PATH_MAX];
    CHECK(realpath(argv[1], directory));
    start(directory, long_ns);
    test_opens_for_reading_get_the_copy();
    test_relative_paths_are_below_the_current_folder(directory);
    test_paths_are_found_however_they_are_spelled(directory);
    test_other_opens_get_the_original();
    test_without_a_copy_the_original_is_read();
    CHECK_EQUAL(recorded_here(directory, copy, TFD_OP_OPEN).calls, 11);
    CHECK_EQUAL(recorded_here(directory, copy, TFD_OP_FOPEN).calls, 2);
    test_paths_that_lead_up_are_found_unless_a_link_leads_elsewhere(directory);
    test_a_copy_that_changed_is_left_alone(copy);
    stop(directory);

    start(directory, 0);
    check_holds(open(original, O_RDONLY), 'c');
    check_totals(1, 0, 0);
    test_a_copy_that_changed_is_left_alone(original);
    stop(directory);

    test_looks(directory);
    return 0;
}
