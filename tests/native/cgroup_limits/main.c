/* What control groups leave to a process follows limits that are set, raised, lowered and taken away while it runs, in
 * any of the groups that it is in, however many there are. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cgroup_memory.h"
#include "check.h"

#define MIB (1ull << 20)
#define DEPTH 40

static const char *root;
static char innermost[1024]; /* group */

struct version {
    const char *cgroup, *mountinfo, *mount, *limit, *usage, *none;
};

static const struct version versions[] = {
    {"4:memory:%s\n", "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
     "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "9223372036854771712"},
    {"0::%s\n", "29 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "/sys/fs/cgroup", "memory.max",
     "memory.current", "max"},
};

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[4096];
    snprintf(path, sizeof path, "%s%s/%s", root, folder, name);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void set(const struct version *version, const char *group, const char *name, const char *value)
{
    char folder[2048];
    snprintf(folder, sizeof folder, "%s%s", version->mount, group);
    write_file(folder, name, value);
}

static void set_mib(const struct version *version, const char *group, const char *name, uint64_t mib)
{
    char value[32];
    snprintf(value, sizeof value, "%llu\n", (unsigned long long)(mib * MIB));
    set(version, group, name, value);
}

/* Each group uses 10 MiB, and has no limit. */
static void make_groups(const struct version *version)
{
    char line[2048];
    innermost[0] = '\0';
    for (int i = 0; i < DEPTH; i++) {
        snprintf(innermost + strlen(innermost), sizeof innermost - strlen(innermost), "/g%d", i);
        set(version, innermost, version->limit, version->none);
        set_mib(version, innermost, version->usage, 10);
    }
    snprintf(line, sizeof line, version->cgroup, innermost);
    write_file("/proc/self", "cgroup", line);
    write_file("/proc/self", "mountinfo", version->mountinfo);
}

static void test_limits_that_change(const struct version *version)
{
    make_groups(version);
    tfd_cgroups_find(root);
    CHECK(tfd_cgroup_memory_left() == UINT64_MAX);
    set_mib(version, innermost, version->limit, 110);
    CHECK(tfd_cgroup_memory_left() == 100 * MIB);
    set_mib(version, "/g0", version->limit, 60);
    CHECK(tfd_cgroup_memory_left() == 50 * MIB);
    set_mib(version, "/g0", version->limit, 510);
    CHECK(tfd_cgroup_memory_left() == 100 * MIB);
    set_mib(version, innermost, version->limit, 30);
    CHECK(tfd_cgroup_memory_left() == 20 * MIB);
    set_mib(version, innermost, version->usage, 40);
    CHECK(tfd_cgroup_memory_left() == 0);
    set(version, innermost, version->limit, version->none);
    CHECK(tfd_cgroup_memory_left() == 500 * MIB);
    set(version, "/g0", version->limit, version->none);
    CHECK(tfd_cgroup_memory_left() == UINT64_MAX);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    root = argv[1];
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        test_limits_that_change(&versions[i]);
    return 0;
}
