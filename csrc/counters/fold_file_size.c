/* The known size of a file. */
#include "counters/fold_step.h"

void tfd_size_is(struct fold_record *record, int64_t size)
{
    record->extent = size;
    record->flags |= TFD_RECORD_SIZE_KNOWN;
}

/* A read beyond the known size shows that the size is outdated. */
void tfd_size_reaches(struct fold_record *record, int64_t offset, int64_t length)
{
    int64_t before = record->extent;
    if (offset >= 0 && length > 0)
        tfd_highest(&record->extent, tfd_sum(offset, length));
    if (record->extent != before)
        record->flags &= (uint8_t)~TFD_RECORD_SIZE_KNOWN;
}

/* An end-of-file read shows the size only if bytes were read up to there: a program may also ask for zero bytes, or
 * read beyond the end. */
void tfd_size_ends_at(struct fold_record *record, int64_t offset)
{
    if (offset == record->extent)
        record->flags |= TFD_RECORD_SIZE_KNOWN;
}

void tfd_size_changes(struct fold_record *record)
{
    record->flags |= TFD_RECORD_SIZE_CHANGES;
}

bool tfd_size_is_known(const struct fold_record *record)
{
    return (record->flags & (TFD_RECORD_SIZE_KNOWN | TFD_RECORD_SIZE_CHANGES)) == TFD_RECORD_SIZE_KNOWN;
}
