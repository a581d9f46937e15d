#include "tensorflow/io_plane.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader/longest_events.h"
#include "reader/reader_trace.h"
#include "spool/event.h"
#include "tensorflow/io_plane_ids.h"
#include "tensorflow/rate_bins.h"
#include "tensorflow/session_plane.h"

#define BATCH_EVENTS 4096
#define NOTE_BYTES 384
#define DURATION_BYTES 32

static const char *const stat_names[] = {
    [TFD_STAT_BYTES] = "bytes",
    [TFD_STAT_OFFSET] = "offset",
    [TFD_STAT_FILE] = "file",
    [TFD_STAT_ERROR] = "errno",
    [TFD_STAT_SIZE] = "size",
    [TFD_STAT_MODE] = "mode",
    [TFD_STAT_NEW_NAME] = "new name",
    [TFD_STAT_MB_PER_S] = "MB/s",
    [TFD_STAT_OPERATIONS] = "running",
    [TFD_STAT_MARK] = "tfdarshan mark",
    [TFD_STAT_STANDS_FOR] = "stands for ns",
};
static const char *const rate_names[TFD_RATE_COUNT] = {
    [TFD_RATE_READ] = "read MB/s",
    [TFD_RATE_WRITE] = "write MB/s",
    [TFD_RATE_IN_FLIGHT] = "I/O operations in flight",
};

struct plane {
    struct tfd_reader *reader;
    const struct tfd_plane_request *request;
    struct tfd_bytes *out;
    struct tfd_longest longest;
    struct tfd_rate_bins *rates;
    struct tfd_trace_info info;
    struct tfd_thinned_info thinned;
};

struct batch {
    int64_t start_ns[BATCH_EVENTS], end_ns[BATCH_EVENTS], offset[BATCH_EVENTS], length[BATCH_EVENTS];
    int32_t tid[BATCH_EVENTS];
    uint32_t file[BATCH_EVENTS];
    int16_t error[BATCH_EVENTS];
    uint8_t operation[BATCH_EVENTS], flags[BATCH_EVENTS];
};

static char class_of(uint8_t operation)
{
    const char *name = tfd_operation_class(operation);
    return name ? name[0] : 0;
}

static void add_rates(struct tfd_rate_bins *rates, const struct tfd_plane_event *event)
{
    char io_class = class_of(event->operation);
    tfd_rates_add(rates, TFD_RATE_IN_FLIGHT, event->start_ns, event->duration_ns, (double)event->duration_ns);
    if (io_class == 'r' || io_class == 'w')
        tfd_rates_add(rates, io_class == 'r' ? TFD_RATE_READ : TFD_RATE_WRITE, event->start_ns,
                      event->duration_ns, (double)event->length);
}

/* Thinned calls are among the untraced ones, so they add no rates themselves. */
static void add_untraced_rates(struct plane *plane)
{
    int64_t start_ns, end_ns, calls, read, written, busy_ns;
    struct tfd_untraced_batch batch = {&start_ns, &end_ns, &calls, &read, &written, &busy_ns};
    for (uint64_t bin = 0; tfd_reader_untraced(plane->reader, bin, 1, &batch); bin++) {
        int64_t duration_ns = end_ns - start_ns;
        tfd_rates_add(plane->rates, TFD_RATE_IN_FLIGHT, start_ns, duration_ns, (double)busy_ns);
        tfd_rates_add(plane->rates, TFD_RATE_READ, start_ns, duration_ns, (double)read);
        tfd_rates_add(plane->rates, TFD_RATE_WRITE, start_ns, duration_ns, (double)written);
    }
}

static int take_batch(struct plane *plane, const struct batch *batch, size_t rows, int64_t stands_for_ns)
{
    for (size_t row = 0; row < rows; row++) {
        struct tfd_plane_event event = {
            .start_ns = batch->start_ns[row],
            .duration_ns = batch->end_ns[row] - batch->start_ns[row],
            .stands_for_ns = stands_for_ns,
            .offset = batch->offset[row],
            .length = batch->length[row],
            .file = batch->file[row],
            .tid = batch->tid[row],
            .error = batch->error[row],
            .operation = batch->operation[row],
        };
        if (event.start_ns < plane->request->start_ns || event.start_ns >= plane->request->end_ns)
            continue;
        if (stands_for_ns && event.duration_ns > stands_for_ns)
            event.stands_for_ns = event.duration_ns;
        if (batch->flags[row] & TFD_FLAG_FIRST_OPEN)
            event.stands_for_ns = 0;
        if (!stands_for_ns)
            add_rates(plane->rates, &event);
        if (!tfd_longest_add(&plane->longest, &event))
            return -ENOMEM;
    }
    return 0;
}

typedef size_t read_rows(struct tfd_reader *reader, uint64_t first, size_t rows,
                         struct tfd_event_batch *batch);

static int take_rows(struct plane *plane, struct batch *batch, read_rows *read, int64_t stands_for_ns)
{
    struct tfd_event_batch columns = {batch->start_ns,  batch->end_ns, batch->tid,
                                      batch->operation, batch->flags,  batch->error,
                                      batch->file,      batch->offset, batch->length};
    int status = 0;
    uint64_t first = 0;
    size_t rows;
    while (!status && (rows = read(plane->reader, first, BATCH_EVENTS, &columns)) > 0) {
        status = take_batch(plane, batch, rows, stands_for_ns);
        first += rows;
    }
    return status;
}

static int take_events(struct plane *plane)
{
    struct batch *batch = malloc(sizeof *batch);
    if (!batch)
        return -ENOMEM;
    int64_t resolution_ns = plane->thinned.resolution_ns;
    int status = take_rows(plane, batch, tfd_reader_events, 0);
    if (!status)
        status = take_rows(plane, batch, tfd_reader_thinned, resolution_ns ? resolution_ns : 1);
    free(batch);
    add_untraced_rates(plane);
    tfd_longest_finish(&plane->longest);
    return status;
}

/* ---- names ---- */

static int by_number(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

static bool names_new_file(const struct tfd_plane_event *event)
{
    return event->operation == TFD_OP_RENAME && event->offset >= 0 && event->offset <= UINT32_MAX;
}

static void write_file_name(struct plane *plane, uint32_t file)
{
    size_t length;
    const char *path = tfd_reader_path(plane->reader, file, &length);
    if (!path)
        path = "(files beyond memory_cap_mb)", length = strlen(path);
    tfd_metadata(plane->out, TFD_XPLANE_STAT_METADATA, TFD_STAT_FILES + (int64_t)file, path, length);
}

static int write_file_names(struct plane *plane)
{
    uint32_t *files = malloc((plane->longest.count * 2 + 1) * sizeof *files);
    size_t count = 0;
    if (!files)
        return -ENOMEM;
    for (size_t i = 0; i < plane->longest.count; i++) {
        const struct tfd_plane_event *event = &plane->longest.events[i];
        files[count++] = event->file;
        if (names_new_file(event))
            files[count++] = (uint32_t)event->offset;
    }
    qsort(files, count, sizeof *files, by_number);
    for (size_t i = 0; i < count; i++)
        if (files[i] && (!i || files[i] != files[i - 1]))
            write_file_name(plane, files[i]);
    free(files);
    return 0;
}

static void write_names(struct tfd_bytes *out)
{
    for (int64_t stat = 1; stat < TFD_STAT_NAMES; stat++)
        tfd_metadata(out, TFD_XPLANE_STAT_METADATA, stat, stat_names[stat], strlen(stat_names[stat]));
    for (size_t code = 0; code < tfd_operation_count(); code++) {
        const char *name = tfd_operation_name(code);
        tfd_metadata(out, TFD_XPLANE_EVENT_METADATA, (int64_t)code + 1, name, strlen(name));
    }
    for (int rate = 0; rate < TFD_RATE_COUNT; rate++)
        tfd_metadata(out, TFD_XPLANE_EVENT_METADATA, TFD_EVENT_RATES + rate, rate_names[rate],
                     strlen(rate_names[rate]));
}

/* ---- lines ---- */

static size_t begin_line(struct tfd_bytes *out, int64_t id, const char *name, int64_t realtime_ns)
{
    size_t line = tfd_message_begin(out, TFD_XPLANE_LINES);
    tfd_field_int(out, TFD_XLINE_ID, id);
    tfd_field_int(out, TFD_XLINE_DISPLAY_ID, id);
    tfd_field_text(out, TFD_XLINE_NAME, name, strlen(name));
    tfd_field_int(out, TFD_XLINE_TIMESTAMP_NS, realtime_ns);
    return line;
}

static size_t begin_event(struct tfd_bytes *out, int64_t id, int64_t offset_ns, int64_t duration_ns)
{
    size_t event = tfd_message_begin(out, TFD_XLINE_EVENTS);
    tfd_field_int(out, TFD_XEVENT_METADATA_ID, id);
    tfd_field_int(out, TFD_XEVENT_OFFSET_PS, offset_ns * 1000);
    tfd_field_int(out, TFD_XEVENT_DURATION_PS, duration_ns * 1000);
    return event;
}

static void write_position(struct tfd_bytes *out, const struct tfd_plane_event *event)
{
    if (names_new_file(event))
        tfd_stat_ref(out, TFD_XEVENT_STATS, TFD_STAT_NEW_NAME, TFD_STAT_FILES + event->offset);
    else if (event->operation == TFD_OP_OPEN || event->operation == TFD_OP_FOPEN)
        tfd_stat_int(out, TFD_XEVENT_STATS, TFD_STAT_MODE, event->offset);
    else if (event->offset >= 0)
        tfd_stat_int(out, TFD_XEVENT_STATS, TFD_STAT_OFFSET, event->offset);
}

static void write_event(struct plane *plane, const struct tfd_plane_event *event)
{
    struct tfd_bytes *out = plane->out;
    size_t begun = begin_event(out, event->operation + 1, event->start_ns - plane->request->start_ns,
                               event->duration_ns);
    bool moves = class_of(event->operation) != 'm';
    if (moves || event->length)
        tfd_stat_int(out, TFD_XEVENT_STATS, moves ? TFD_STAT_BYTES : TFD_STAT_SIZE, event->length);
    write_position(out, event);
    if (event->file)
        tfd_stat_ref(out, TFD_XEVENT_STATS, TFD_STAT_FILE, TFD_STAT_FILES + (int64_t)event->file);
    if (event->error)
        tfd_stat_int(out, TFD_XEVENT_STATS, TFD_STAT_ERROR, event->error);
    if (event->stands_for_ns)
        tfd_stat_int(out, TFD_XEVENT_STATS, TFD_STAT_STANDS_FOR, event->stands_for_ns);
    tfd_message_end(out, begun);
}

/* Find the name of the newest thread with this id; "" if its record is another thread's by now. */
static void find_thread_name(struct plane *plane, int32_t tid, char *name, size_t capacity)
{
    struct tfd_thread_info thread;
    name[0] = '\0';
    for (uint64_t i = plane->info.threads; i-- > 0 && !name[0];)
        if (!tfd_reader_thread(plane->reader, i, &thread) && thread.tid == tid)
            snprintf(name, capacity, "%s", thread.name);
}

static void write_threads(struct plane *plane)
{
    const struct tfd_plane_event *events = plane->longest.events;
    for (size_t i = 0; i < plane->longest.count;) {
        char thread[16], name[64];
        int32_t tid = events[i].tid;
        find_thread_name(plane, tid, thread, sizeof thread);
        int length = snprintf(name, sizeof name, "I/O thread %" PRId32, tid);
        if (thread[0])
            snprintf(name + length, sizeof name - (size_t)length, " (%s)", thread);
        size_t line = begin_line(plane->out, (uint32_t)tid, name, plane->request->realtime_ns);
        for (; i < plane->longest.count && events[i].tid == tid; i++)
            write_event(plane, &events[i]);
        tfd_message_end(plane->out, line);
    }
}

static void write_rate(struct plane *plane, enum tfd_rate rate)
{
    const struct tfd_rate_bins *rates = plane->rates;
    double shown = 0;
    for (uint32_t bin = 0; bin <= rates->count; bin++) {
        double value = bin < rates->count ? tfd_rate_at(rates, rate, bin) : 0;
        if (value == shown && bin && bin < rates->count)
            continue;
        size_t event = begin_event(plane->out, TFD_EVENT_RATES + rate, bin * rates->bin_ns, 0);
        tfd_stat_double(plane->out, TFD_XEVENT_STATS,
                        rate == TFD_RATE_IN_FLIGHT ? TFD_STAT_OPERATIONS : TFD_STAT_MB_PER_S, value);
        tfd_message_end(plane->out, event);
        shown = value;
    }
}

/* A viewer draws a line of this name as counters, one track for each name of its events. */
static void write_counters(struct plane *plane)
{
    size_t line = begin_line(plane->out, TFD_LINE_COUNTERS, "_counters_", plane->request->realtime_ns);
    for (int rate = 0; rate < TFD_RATE_COUNT; rate++)
        write_rate(plane, (enum tfd_rate)rate);
    tfd_message_end(plane->out, line);
}

/* Write a sentence as one event, which a viewer shows. */
static void write_note(struct tfd_bytes *out, int64_t realtime_ns, int64_t duration_ns, const char *sentence)
{
    tfd_metadata(out, TFD_XPLANE_EVENT_METADATA, TFD_EVENT_NOTE, sentence, strlen(sentence));
    size_t line = begin_line(out, TFD_LINE_NOTE, "I/O note", realtime_ns);
    tfd_message_end(out, begin_event(out, TFD_EVENT_NOTE, 0, duration_ns));
    tfd_message_end(out, line);
}

static const char *word_duration(int64_t ns, char *out)
{
    static const struct {
        double ns;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    int unit = 0;
    while (unit < 3 && (double)ns < units[unit].ns)
        unit++;
    snprintf(out, DURATION_BYTES, "%.3g %s", (double)ns / units[unit].ns, units[unit].name);
    return out;
}

static const char *word_counters(const struct plane *plane)
{
    int64_t column[6];
    struct tfd_untraced_batch batch = {&column[0], &column[1], &column[2],
                                       &column[3], &column[4], &column[5]};
    return tfd_reader_untraced(plane->reader, 0, 1, &batch) ? "The counters count all calls."
                                                            : "The counters lack calls from there on.";
}

static int word_thinned(const struct plane *plane, char *sentence, size_t capacity)
{
    char from[DURATION_BYTES], each[DURATION_BYTES];
    uint64_t dropped = plane->info.events_dropped;
    if (plane->thinned.resolution_ns)
        return snprintf(
            sentence, capacity,
            "From %s of the recording on, calls shorter than %s are a sample: one for each %s that "
            "they took. %s",
            word_duration(plane->info.first_dropped_ns, from),
            word_duration(plane->thinned.resolution_ns, each), each, word_counters(plane));
    if (dropped > plane->thinned.calls)
        return snprintf(sentence, capacity,
                        "%" PRIu64 " were counted and not kept: trace_memory_mb was full.",
                        dropped - plane->thinned.calls);
    return 0;
}

static void write_left_out(struct plane *plane, int64_t duration_ns)
{
    uint64_t left_out = plane->longest.seen - plane->longest.count;
    char sentence[NOTE_BYTES];
    int length = 0;
    if (left_out)
        length = snprintf(sentence, sizeof sentence,
                          "the %zu longest of %" PRIu64 " operations are drawn, %" PRIu64 " are left out. ",
                          plane->longest.count, plane->longest.seen, left_out);
    length += word_thinned(plane, sentence + length, sizeof sentence - (size_t)length);
    if (length)
        write_note(plane->out, plane->request->realtime_ns, duration_ns, sentence);
}

static size_t begin_plane(struct tfd_bytes *out, int64_t id, const char *name)
{
    size_t plane = tfd_message_begin(out, TFD_XSPACE_PLANES);
    tfd_field_int(out, TFD_XPLANE_ID, id);
    tfd_field_text(out, TFD_XPLANE_NAME, name, strlen(name));
    return plane;
}

static void write_mark(struct tfd_bytes *out, const char *mark)
{
    tfd_stat_bytes(out, TFD_XPLANE_STATS, TFD_STAT_MARK, mark, strlen(mark));
}

static int64_t duration_of(const struct plane *plane)
{
    int64_t end =
        plane->request->end_ns < plane->info.duration_ns ? plane->request->end_ns : plane->info.duration_ns;
    return end > plane->request->start_ns ? end - plane->request->start_ns : 1;
}

static int write_io_plane(struct plane *plane)
{
    size_t begun = begin_plane(plane->out, TFD_PLANE_IO, TFD_PLANE_IO_NAME);
    tfd_rates_begin(plane->rates, plane->request->start_ns, duration_of(plane));
    int status = take_events(plane);
    if (!status)
        status = write_file_names(plane);
    if (status)
        return status;
    write_names(plane->out);
    write_mark(plane->out, plane->request->mark);
    write_left_out(plane, duration_of(plane));
    write_counters(plane);
    write_threads(plane);
    tfd_message_end(plane->out, begun);
    return 0;
}

int tfd_io_plane(struct tfd_reader *reader, const struct tfd_plane_request *request, struct tfd_bytes *out,
                 struct tfd_plane_counts *counts)
{
    struct plane plane = {.reader = reader, .request = request, .out = out};
    plane.longest.limit = request->max_events;
    plane.rates = malloc(sizeof *plane.rates);
    tfd_reader_trace_info(reader, &plane.info);
    tfd_reader_thinned_info(reader, &plane.thinned);
    int status = plane.rates ? write_io_plane(&plane) : -ENOMEM;
    *counts = (struct tfd_plane_counts){plane.longest.count, plane.longest.seen - plane.longest.count};
    if (!status && request->with_session) {
        size_t begun = begin_plane(out, TFD_PLANE_SESSION, TFD_PLANE_SESSION_NAME);
        status = tfd_session_plane(reader, request, out);
        tfd_message_end(out, begun);
    }
    tfd_longest_free(&plane.longest);
    free(plane.rates);
    return status ? status : out->failed ? -ENOMEM : 0;
}

void tfd_note_plane(struct tfd_bytes *out, int64_t realtime_ns, const char *mark, const char *sentence)
{
    size_t begun = begin_plane(out, TFD_PLANE_IO, TFD_PLANE_IO_NAME);
    write_names(out);
    write_mark(out, mark);
    write_note(out, realtime_ns, 1000000, sentence);
    tfd_message_end(out, begun);
}
