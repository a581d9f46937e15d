/* A spool whose process was killed while it folded, with any bytes as its journal: the reader undoes what the journal
 * may say, and never crashes. */
#define _GNU_SOURCE
#include "fuzz.h"
#include "whole_spool.h"

#define CALLS 300

static struct fuzz_file file;
static size_t journal, copies;

static void fuzz_begin(const char *directory)
{
    char path[PATH_MAX];
    size_t size;
    check_spool_path(path, directory, getpid());
    build(directory, PROCESS_FOLDS_SOME, CALLS);
    uint8_t *whole = (uint8_t *)load(path, &size);
    fuzz_file_make(&file, whole, size);
    CHECK(unlink(path) == 0);
    const struct tfd_spool_header *header = (const void *)whole;
    const struct fold_root *root = (const void *)(whole + atomic_load(&header->fold));
    journal = (size_t)atomic_load(&header->fold) + offsetof(struct fold_root, journal);
    copies = (size_t)root->journal.data;
    CHECK(root->journal.count > 0 && copies + TFD_JOURNAL_BYTES <= size);
}

/* The journal, and what is longer than that as the copies of blocks. */
static void fuzz_one(const uint8_t *data, size_t size)
{
    size_t entries = size < sizeof(struct fold_journal) ? size : sizeof(struct fold_journal);
    size_t rest = size - entries < TFD_JOURNAL_BYTES ? size - entries : TFD_JOURNAL_BYTES;
    fuzz_write(&file, journal, data, entries);
    fuzz_write(&file, copies, data + entries, rest);
    read_everything(file.path);
    fuzz_file_restore(&file);
}
