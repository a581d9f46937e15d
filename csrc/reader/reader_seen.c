/* The calls that libdarshan did not see, and the counters without them.
 *
 * Folding only the calls that libdarshan saw gives exactly its counts. A
 * difference of counters would not: each call changes positions, strides and
 * switches of later ones. This needs the whole trace. */
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "reader/reader_state.h"

#define STATS (1u << TFD_OP_STAT | 1u << TFD_OP_FSTAT)

static uint32_t unseen_posix(const struct tfd_reader *reader, const struct fold_record *record)
{
    const struct fold_rare *rare = tfd_block(&reader->image.spool, record->rare);
    return rare ? rare->unseen_operations : 0;
}

static uint32_t unseen_stdio(const struct tfd_reader *reader, const struct fold_record *record)
{
    const struct fold_stdio *stdio = tfd_block(&reader->image.spool, record->stdio);
    return stdio ? (uint32_t)stdio->unseen_operations : 0;
}

/* Unseen stat() calls change only their own count. */
static bool is_partly_seen(const struct tfd_reader *reader, const struct fold_record *record)
{
    return record && ((unseen_posix(reader, record) & ~STATS) || unseen_stdio(reader, record));
}

/* Whether a rename counts for its target depends on the source. */
static bool is_renamed(const struct tfd_reader *reader, const struct fold_record *record)
{
    const struct fold_rare *rare = record ? tfd_block(&reader->image.spool, record->rare) : NULL;
    return rare && rare->renames;
}

static uint32_t file_count(const struct tfd_reader *reader)
{
    return atomic_load(&reader->image.spool.header->file_count);
}

int64_t tfd_reader_partly_seen(struct tfd_reader *reader)
{
    int64_t count = 0;
    for (uint32_t file = 0; file < file_count(reader); file++)
        count += is_partly_seen(reader, tfd_reader_record(reader, file));
    return count && (reader->contents.recycled || reader->contents.damaged) ? -1 : count;
}

struct tfd_reader *tfd_reader_open_seen(struct tfd_reader *whole, const char *path)
{
    uint32_t files = file_count(whole);
    uint8_t *chosen = calloc(files, 1);
    if (!chosen) {
        tfd_fail(ENOMEM, "no memory to read the spool %s", path);
        return NULL;
    }
    for (uint32_t file = 0; file < files; file++) {
        const struct fold_record *record = tfd_reader_record(whole, file);
        chosen[file] = is_partly_seen(whole, record) || is_renamed(whole, record);
    }
    struct tfd_reader *seen = tfd_reader_fold(path, chosen);
    free(chosen);
    return seen;
}

void tfd_reader_unseen_operations(struct tfd_reader *reader, const uint32_t *file, const uint8_t *module,
                                  size_t rows, uint32_t *operations)
{
    for (size_t row = 0; row < rows; row++) {
        const struct fold_record *record =
            file[row] < file_count(reader) ? tfd_reader_record(reader, file[row]) : NULL;
        operations[row] = !record                           ? 0
                          : module[row] == TFD_MODULE_POSIX ? unseen_posix(reader, record)
                          : module[row] == TFD_MODULE_STDIO ? unseen_stdio(reader, record)
                                                            : 0;
    }
}
