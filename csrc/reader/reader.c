/* Opens a spool, folds the events that are not folded yet, and reads process, threads and mounts. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "counters/fold.h"
#include "reader/fold_import.h"
#include "reader/reader_state.h"
#include "reader/reader_trace.h"

static bool was_recycled(const struct tfd_reader *reader)
{
    const struct spool_image *image = &reader->image;
    uint64_t fold = atomic_load(&image->spool.header->fold);
    if (reader->contents.recycled || !tfd_image_holds_block(image, fold, sizeof(struct fold_root)))
        return reader->contents.recycled;
    const struct fold_root *root = tfd_at(&image->spool, fold);
    return root->totals.events > reader->contents.events_folded;
}

/* If nothing was recycled, all events are there, and folding them again does
 * not depend on how the process ended. */
static int fold_rest(struct tfd_reader *reader)
{
    struct tfd_spool *spool = &reader->image.spool;
    if (reader->contents.recycled)
        reader->contents.damaged |= !tfd_fold_import(&reader->image);
    else
        tfd_fold_forget(&reader->image);
    if (!tfd_fold_root(spool))
        return tfd_fail(ENOMEM, "no memory to read the spool");
    if (tfd_drain(spool, UINT64_MAX) < 0)
        reader->contents.damaged = true;
    return 0;
}

/* If a process folded all its events before it ended, its counters are used in place. */
static int prepare_counters(struct tfd_reader *reader)
{
    struct spool_contents *contents = &reader->contents;
    contents->recycled = was_recycled(reader);
    bool finished = contents->events == contents->events_folded &&
                    (contents->recycled || (contents->events && reader->image.spool.header->stop.ticks));
    bool all_calls = !reader->image.spool.seen_files;
    int status = all_calls && finished && tfd_fold_adopt(&reader->image) ? 0 : fold_rest(reader);
    if (!status)
        reader->contents.damaged |= tfd_reader_root(reader)->totals.broken != 0;
    return status;
}

static struct tfd_reader *map_and_check(const char *path)
{
    struct tfd_reader *reader = calloc(1, sizeof *reader);
    if (!reader) {
        tfd_fail(ENOMEM, "no memory to read the spool %s", path);
        return NULL;
    }
    int status = tfd_spool_map(&reader->image, path);
    if (!status) {
        tfd_fold_roll_back(&reader->image);
        status = tfd_spool_check(&reader->image, &reader->contents);
    }
    if (!status)
        status = tfd_thinned_list_fill(&reader->thinned, &reader->image);
    if (!status)
        status = tfd_untraced_sums_fill(&reader->image, &reader->untraced);
    if (status) {
        tfd_reader_close(reader);
        return NULL;
    }
    reader->scale = tfd_tick_scale(reader->image.spool.header);
    return reader;
}

static int count(struct tfd_reader *reader, const char *path, const uint8_t *seen_files)
{
    reader->image.spool.seen_files = seen_files;
    int status = prepare_counters(reader);
    reader->image.spool.seen_files = NULL;
    if (status)
        return status;
    bool listed = (seen_files || tfd_reader_find_mapped(reader)) && tfd_reader_list_rows(reader);
    return listed ? 0 : tfd_fail(ENOMEM, "no memory to read the spool %s", path);
}

struct tfd_reader *tfd_reader_fold(const char *path, const uint8_t *seen_files)
{
    struct tfd_reader *reader = map_and_check(path);
    if (reader && count(reader, path, seen_files)) {
        tfd_reader_close(reader);
        return NULL;
    }
    return reader;
}

struct tfd_reader *tfd_reader_open_trace(const char *path)
{
    return map_and_check(path);
}

struct tfd_reader *tfd_reader_open(const char *path)
{
    return tfd_reader_fold(path, NULL);
}

void tfd_reader_close(struct tfd_reader *reader)
{
    if (!reader)
        return;
    tfd_spool_image_unmap(&reader->image);
    free(reader->rows);
    free(reader->mapped);
    tfd_thinned_list_free(&reader->thinned);
    free(reader->untraced);
    tfd_trace_free(reader->trace);
    free(reader);
}

static int64_t kernel_difference(int64_t stop, int64_t start)
{
    return (int64_t)((uint64_t)stop - (uint64_t)start);
}

static void tell_kernel_earlier(const struct tfd_kernel_io *start, struct tfd_spool_info *info)
{
    info->earlier_rchar = start->rchar;
    info->earlier_wchar = start->wchar;
    info->earlier_read_bytes = start->read_bytes;
    info->earlier_write_bytes = start->write_bytes;
}

static void tell_kernel(const struct tfd_spool_header *header, struct tfd_spool_info *info)
{
    const struct tfd_kernel_io *start = &header->kernel_start, *stop = &header->kernel_stop;
    if (start->valid)
        tell_kernel_earlier(start, info);
    info->own_rchar = stop->valid ? stop->own_rchar : start->own_rchar;
    info->own_wchar = stop->valid ? stop->own_wchar : start->own_wchar;
    info->uncounted = atomic_load(&header->uncounted) != 0;
    info->kernel_valid = start->valid && stop->valid;
    if (!info->kernel_valid)
        return;
    info->rchar = kernel_difference(stop->rchar, start->rchar);
    info->wchar = kernel_difference(stop->wchar, start->wchar);
    info->syscr = kernel_difference(stop->syscr, start->syscr);
    info->syscw = kernel_difference(stop->syscw, start->syscw);
    info->read_bytes = kernel_difference(stop->read_bytes, start->read_bytes);
    info->write_bytes = kernel_difference(stop->write_bytes, start->write_bytes);
}

static int64_t union_ns(const struct tfd_reader *reader, int which)
{
    uint64_t offset = tfd_reader_root(reader)->unions[which];
    if (!offset)
        return 0;
    const struct interval_set *set = tfd_at(&reader->image.spool, offset);
    return tfd_duration_to_ns(&reader->scale, tfd_interval_total(set));
}

/* Return the start of the first dropped call in ticks, 0 if the trace has all calls. */
static uint64_t first_dropped(const struct tfd_spool *spool)
{
    uint64_t first = 0;
    for (uint32_t i = 0; i < atomic_load(&spool->header->thread_count); i++) {
        const struct tfd_thread *thread = tfd_thread_at(spool, i);
        uint64_t start = thread->dropped_start;
        if (start && (!first || start < first))
            first = start;
        for (uint64_t offset = thread->first_chunk; offset;) {
            const struct tfd_chunk *chunk = tfd_at(spool, offset);
            start = chunk->kept ? 0 : tfd_chunk_first_start(chunk);
            if (start && (!first || start < first))
                first = start;
            offset = chunk->next;
        }
    }
    return first;
}

static int64_t first_dropped_ns(const struct tfd_reader *reader)
{
    uint64_t ticks = first_dropped(&reader->image.spool);
    return ticks ? tfd_ticks_to_ns(&reader->scale, ticks) : -1;
}

static void tell_times(const struct tfd_reader *reader, struct tfd_spool_info *info)
{
    const struct tfd_spool_header *header = reader->image.spool.header;
    const struct fold_totals *totals = &tfd_reader_root(reader)->totals;
    info->io_ns = union_ns(reader, TFD_UNION_ALL);
    info->read_ns = union_ns(reader, TFD_CLASS_READ);
    info->write_ns = union_ns(reader, TFD_CLASS_WRITE);
    info->meta_ns = union_ns(reader, TFD_CLASS_META);
    info->thread_ns = tfd_duration_to_ns(&reader->scale, totals->busy);
    if (totals->events) {
        info->first_event_ns = tfd_ticks_to_ns(&reader->scale, totals->first_start);
        info->last_event_ns = tfd_ticks_to_ns(&reader->scale, totals->last_end);
    }
    info->first_dropped_ns = first_dropped_ns(reader);
    info->start_realtime_ns = header->start.realtime_ns;
    info->duration_ns = info->stopped
                            ? kernel_difference(header->stop.monotonic_ns, header->start.monotonic_ns)
                            : info->last_event_ns;
}

void tfd_reader_trace_info(struct tfd_reader *reader, struct tfd_trace_info *info)
{
    const struct tfd_spool_header *header = reader->image.spool.header;
    bool stopped = atomic_load(&header->state) == TFD_SPOOL_STOPPED && header->stop.ticks != 0;
    int64_t end = stopped ? header->stop.monotonic_ns : tfd_clock_sample_now().monotonic_ns;
    struct tfd_thread_info thread;
    *info = (struct tfd_trace_info){.threads = atomic_load(&header->thread_count)};
    info->start_realtime_ns = header->start.realtime_ns;
    info->start_monotonic_ns = header->start.monotonic_ns;
    info->duration_ns = kernel_difference(end, header->start.monotonic_ns);
    info->first_dropped_ns = first_dropped_ns(reader);
    for (uint64_t i = 0; i < info->threads && !tfd_reader_thread(reader, i, &thread); i++)
        info->events_dropped += thread.events_dropped;
}

static void tell_counts(const struct tfd_reader *reader, struct tfd_spool_info *info)
{
    const struct tfd_spool_header *header = reader->image.spool.header;
    const struct fold_totals *totals = &tfd_reader_root(reader)->totals;
    uint32_t files = atomic_load(&header->file_count);
    info->threads = atomic_load(&header->thread_count);
    info->files = files > TFD_FIRST_FILE ? files - TFD_FIRST_FILE : 0;
    info->file_rows = reader->row_count;
    info->events = totals->events;
    info->segments = reader->contents.events_kept;
    info->events_dropped = info->events > info->segments ? info->events - info->segments : 0;
    info->files_over_cap = atomic_load(&header->files_over_cap);
    uint64_t full = atomic_load(&header->spool_full);
    info->spool_full = full > TFD_FULL_MEMORY ? TFD_FULL_CAP : (uint32_t)full;
    info->spool_bytes = reader->image.limit;
    info->capacity_bytes = header->capacity_bytes;
    info->trace_limit_bytes = header->trace_limit_bytes;
    info->mount_count = header->mount_count;
}

/* Words of these characters mean the same to a shell with and without quotes. */
static bool is_plain_word(const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)word[i] < 0x80 && !isalnum((unsigned char)word[i]) &&
            !strchr("@%+=:,./-_", word[i]))
            return false;
    return length > 0;
}

static char *write_quoted(char *out, const char *word, size_t length)
{
    *out++ = '\'';
    for (size_t i = 0; i < length; i++)
        if (word[i] == '\'')
            out = stpcpy(out, "'\\''");
        else
            *out++ = word[i];
    *out++ = '\'';
    return out;
}

/* Write the arguments as one line, which a shell takes apart into them again. */
static void tell_command(const struct tfd_spool_header *header, char *out)
{
    size_t length = sizeof header->command;
    while (length && !header->command[length - 1])
        length--;
    for (size_t at = 0; at < length;) {
        const char *word = header->command + at;
        size_t bytes = strnlen(word, length - at);
        out = is_plain_word(word, bytes) ? mempcpy(out, word, bytes) : write_quoted(out, word, bytes);
        at += bytes + 1;
        if (at < length)
            *out++ = ' ';
    }
    *out = '\0';
}

int tfd_reader_info(struct tfd_reader *reader, struct tfd_spool_info *info)
{
    const struct tfd_spool_header *header = reader->image.spool.header;
    memset(info, 0, sizeof *info);
    info->pid = header->pid;
    info->parent_pid = header->parent_pid;
    info->stopped = atomic_load(&header->state) == TFD_SPOOL_STOPPED && header->stop.ticks != 0;
    memcpy(info->host, header->host, sizeof info->host);
    tell_command(header, info->command);
    tell_counts(reader, info);
    tell_times(reader, info);
    tell_kernel(header, info);
    info->damaged = reader->contents.damaged;
    return 0;
}

int tfd_reader_thread(struct tfd_reader *reader, uint64_t index, struct tfd_thread_info *info)
{
    const struct tfd_spool *spool = &reader->image.spool;
    if (index >= atomic_load(&spool->header->thread_count))
        return tfd_fail(EINVAL, "the spool has no thread %llu", (unsigned long long)index);
    const struct tfd_thread *thread = tfd_thread_at(spool, (uint32_t)index);
    memset(info, 0, sizeof *info);
    info->tid = thread->tid;
    memcpy(info->name, thread->name, sizeof info->name - 1);
    info->events_dropped = thread->events_dropped;
    for (uint64_t offset = thread->first_chunk; offset;) {
        const struct tfd_chunk *chunk = tfd_at(spool, offset);
        *(chunk->kept ? &info->events : &info->events_dropped) += tfd_chunk_events(chunk);
        offset = chunk->next;
    }
    info->events += info->events_dropped;
    _Static_assert(sizeof info->other == sizeof thread->other, "the two tables are one");
    memcpy(info->other, thread->other, sizeof info->other);
    return 0;
}

int tfd_reader_joined(struct tfd_reader *reader)
{
    return (int)reader->image.spool.header->joined;
}

uint32_t tfd_reader_other_user_programs(struct tfd_reader *reader)
{
    return atomic_load(&reader->image.spool.header->other_user_programs);
}

uint64_t tfd_reader_missed_opens(struct tfd_reader *reader)
{
    return atomic_load(&reader->image.spool.header->missed_opens);
}

uint64_t tfd_reader_bypasses(struct tfd_reader *reader)
{
    struct tfd_spool_header *header = reader->image.spool.header;
    return header->version <= TFD_UNTRACED_SPOOL_VERSION ? 0 : atomic_load(&header->bypasses);
}

void tfd_reader_folding(struct tfd_reader *reader, uint64_t *thread_ns, uint64_t *by_callers)
{
    const struct tfd_spool_header *header = reader->image.spool.header;
    *thread_ns = atomic_load(&header->fold_thread_ns);
    *by_callers = atomic_load(&header->folded_by_callers);
}

void tfd_reader_patterns_met(struct tfd_reader *reader, uint64_t *include, uint64_t *exclude)
{
    const struct tfd_patterns_met *met = &reader->image.spool.header->patterns_met;
    *include = atomic_load(&met->include);
    *exclude = atomic_load(&met->exclude);
}

/* Return the name at an offset, "" if it is damaged. */
static const char *name_at(const struct tfd_reader *reader, uint64_t offset)
{
    if (!tfd_image_holds(&reader->image, offset, 1))
        return "";
    const char *name = tfd_at(&reader->image.spool, offset);
    return memchr(name, '\0', reader->image.limit - offset) ? name : "";
}

int tfd_reader_mount(struct tfd_reader *reader, uint64_t index, struct tfd_mount_info *info)
{
    const struct tfd_spool *spool = &reader->image.spool;
    if (index >= spool->header->mount_count)
        return tfd_fail(EINVAL, "the spool has no mount %llu", (unsigned long long)index);
    const struct tfd_mount *mount = (const struct tfd_mount *)tfd_at(spool, spool->header->mounts) + index;
    info->point = name_at(reader, mount->point);
    info->fs_type = name_at(reader, mount->fs_type);
    info->source = name_at(reader, mount->source);
    info->block_size = atomic_load(&mount->block_size);
    return 0;
}

static void add_failure(struct tfd_failure *failures, size_t capacity, size_t *count,
                        struct tfd_failure failure)
{
    if (!failure.calls)
        return;
    if (*count < capacity)
        failures[*count] = failure;
    ++*count;
}

/* Return how many failures there are. Error 0 stands for errors without a place in the table. */
size_t tfd_reader_failures(struct tfd_reader *reader, struct tfd_failure *failures, size_t capacity)
{
    const struct fold_root *root = tfd_reader_root(reader);
    size_t count = 0;
    for (uint32_t i = 0; i < TFD_FAILURE_SLOTS; i++) {
        const struct fold_failure *slot = &root->failures[i];
        add_failure(failures, capacity, &count,
                    (struct tfd_failure){slot->operation, slot->error, slot->calls});
    }
    for (int32_t operation = 0; operation < TFD_OPERATION_COUNT; operation++)
        add_failure(failures, capacity, &count,
                    (struct tfd_failure){operation, 0, root->other_failures[operation]});
    return count;
}
