/* Another tool patches slots before us and after us. Its pointers stay, and the values that it restores do no harm. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "recorded.h"

typedef ssize_t pread_function(int, void *, size_t, off_t);

static char path[PATH_MAX];
static int fd;

/* libpatcher.c */
extern pread_function their_pread;
extern pread_function *after_theirs;
extern int their_calls;

/* This program's slot for pread. */
static pread_function **find_slot(void)
{
    const ElfW(Rela) *relocations = NULL;
    const ElfW(Sym) *symbols = NULL;
    const char *names = NULL;
    size_t bytes = 0;
    for (const ElfW(Dyn) *entry = _DYNAMIC; entry->d_tag != DT_NULL; entry++) {
        void *address = (void *)entry->d_un.d_ptr;
        relocations = entry->d_tag == DT_JMPREL ? address : relocations;
        symbols = entry->d_tag == DT_SYMTAB ? address : symbols;
        names = entry->d_tag == DT_STRTAB ? address : names;
        bytes = entry->d_tag == DT_PLTRELSZ ? entry->d_un.d_val : bytes;
    }
    for (size_t i = 0; i < bytes / sizeof *relocations; i++)
        if (!strcmp(names + symbols[ELF64_R_SYM(relocations[i].r_info)].st_name, "pread"))
            return (pread_function **)(_r_debug.r_map->l_addr + relocations[i].r_offset);
    CHECK(!"this program calls pread");
    return NULL;
}

static void read_once(int expected_theirs)
{
    char bytes[100];
    their_calls = 0;
    CHECK_EQUAL(pread(fd, bytes, sizeof bytes, 0), sizeof bytes);
    CHECK_EQUAL(their_calls, expected_theirs);
}

static void check_reads(const char *directory, int64_t reads)
{
    CHECK_EQUAL(recorded_here(directory, path, TFD_OP_PREAD).calls, reads);
    check_drop_spool(directory, getpid());
}

static void stop(uint64_t restored)
{
    struct tfd_attach_report report;
    CHECK(tfd_session_stop(&report) == 0);
    CHECK_EQUAL(report.slots_restored, restored);
}

/* The other tool patched first: we leave the slot alone and report it. */
static void check_before_us(const char *directory, pread_function **slot)
{
    struct tfd_options options = check_options(directory);
    after_theirs = *slot;
    *slot = their_pread;
    struct tfd_attach_report report = check_start_with(&options);
    CHECK_EQUAL(report.slots_foreign, 1);
    CHECK(*slot == their_pread);
    read_once(1);
    stop(report.slots_patched);
    CHECK(*slot == their_pread);
    *slot = after_theirs;
    check_reads(directory, 0);
}

/* The other tool patched while we were attached: undo leaves its pointer, which then calls our wrapper. */
static void check_after_us(const char *directory, pread_function **slot)
{
    struct tfd_options options = check_options(directory);
    struct tfd_attach_report report = check_start_with(&options);
    CHECK_EQUAL(report.slots_foreign, 0);
    after_theirs = *slot;
    *slot = their_pread;
    read_once(1);
    stop(report.slots_patched - 1);
    CHECK(*slot == their_pread);
    read_once(1);
    check_reads(directory, 1);
    *slot = after_theirs; /* our wrapper, while nothing records */
    CHECK_EQUAL(tfd_slots_holding_wrappers(), 1);
    read_once(0);
}

/* If the other tool restores our wrapper, the wrapper counts as the function that it stands for. */
static void check_recovered(const char *directory)
{
    struct tfd_options options = check_options(directory);
    struct tfd_attach_report report = check_start_with(&options);
    CHECK_EQUAL(report.slots_foreign, 0);
    read_once(0);
    stop(report.slots_patched);
    CHECK_EQUAL(tfd_slots_holding_wrappers(), 0);
    read_once(0);
    check_reads(directory, 1);
}

/* The loader binds a slot lazily in one thread while another attaches: its late write stays and works. */
static void check_bound_late(const char *directory, pread_function **slot)
{
    struct tfd_options options = check_options(directory);
    struct tfd_attach_report report = check_start_with(&options);
    union {
        void *object;
        pread_function *function;
    } bound = {dlsym(RTLD_DEFAULT, "pread")};
    *slot = bound.function;
    read_once(0);
    stop(report.slots_patched - 1);
    CHECK(*slot == bound.function);
    read_once(0);
    check_drop_spool(directory, getpid());
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    check_make_file(path, argv[1], "data", 1000);
    fd = open(path, O_RDONLY);
    pread_function **slot = find_slot();
    read_once(0);
    check_before_us(argv[1], slot);
    check_after_us(argv[1], slot);
    check_recovered(argv[1]);
    check_bound_late(argv[1], slot);
    check_recovered(argv[1]);
    return 0;
}
