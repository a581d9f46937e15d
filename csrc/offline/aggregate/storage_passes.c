#include "offline/aggregate/aggregate.h"

#include <stdbool.h>
#include <string.h>

/* Numbers of an open pass: its thread, the next pass of its file, sums of its reads and of its slow ones, which took
 * longer than the page cache takes; bytes read since the file was opened, and after how many bytes the next pass
 * begins, 0 if that is not known. */
enum { THREAD, FOLLOWING, CALLS, MOVED, READ_NS, SLOW, SLOW_NS, SINCE_OPEN, NEXT_AT };

_Static_assert(NEXT_AT + 1 == (int)TFD_PASS_NUMBERS, "a pass has room for its numbers");

/* Calls ahead for which files' first passes are prefetched: they are seldom in the processor's cache. */
enum { AHEAD = 16 };

static int64_t *pass_at(struct tfd_passes *passes, int64_t place)
{
    return passes->held + place * TFD_PASS_NUMBERS;
}

static bool is_longer(const struct tfd_passes *passes, int64_t calls, int64_t moved, int64_t lasted_ns)
{
    return (double)lasted_ns / 1e9 > (double)calls * passes->call_s + (double)moved * passes->byte_s;
}

/* Return true if many slow reads took most of the time, and may have read ahead all of the pass's bytes. */
static bool is_read_ahead(const struct tfd_passes *passes, const int64_t *pass)
{
    return pass[SLOW] >= passes->many_slow && pass[SLOW_NS] > pass[READ_NS] / 2 &&
           pass[SLOW] * passes->ahead_bytes >= pass[MOVED];
}

static void judge(struct tfd_passes *passes, int32_t file, const int64_t *pass)
{
    if (!is_longer(passes, pass[CALLS], pass[MOVED], pass[READ_NS]) && !is_read_ahead(passes, pass))
        return;
    passes->stored_ns[file] += pass[READ_NS];
    passes->stored_bytes[file] += pass[MOVED];
}

/* End a pass and begin another one in its place. */
static void begin_again(struct tfd_passes *passes, int32_t file, int64_t *pass)
{
    judge(passes, file, pass);
    pass[CALLS] = pass[MOVED] = pass[READ_NS] = pass[SLOW] = pass[SLOW_NS] = 0;
}

/* Return the open pass of a thread over a file, 0 if there is none. It becomes the file's first pass, so that the next
 * search is short. */
static int64_t find_pass(struct tfd_passes *passes, int32_t file, int32_t thread)
{
    int64_t place = passes->first[file], before = 0;
    while (place && pass_at(passes, place)[THREAD] != thread) {
        before = place;
        place = pass_at(passes, place)[FOLLOWING];
    }
    if (place && before) {
        pass_at(passes, before)[FOLLOWING] = pass_at(passes, place)[FOLLOWING];
        pass_at(passes, place)[FOLLOWING] = passes->first[file];
        passes->first[file] = (int32_t)place;
    }
    return place;
}

static int64_t take_pass(struct tfd_passes *passes, int32_t file, int32_t thread)
{
    int64_t place = passes->free ? passes->free : passes->used++, *pass = pass_at(passes, place);
    if (passes->free)
        passes->free = pass[FOLLOWING];
    memset(pass, 0, sizeof(*pass) * TFD_PASS_NUMBERS);
    pass[THREAD] = thread;
    pass[FOLLOWING] = passes->first[file];
    passes->first[file] = (int32_t)place;
    return place;
}

/* End a file's first pass and free its place. */
static void leave_pass(struct tfd_passes *passes, int32_t file, int64_t place)
{
    int64_t *pass = pass_at(passes, place);
    judge(passes, file, pass);
    passes->first[file] = (int32_t)pass[FOLLOWING];
    pass[FOLLOWING] = passes->free;
    passes->free = place;
}

static void open_file(struct tfd_passes *passes, int32_t file, int64_t *pass)
{
    begin_again(passes, file, pass);
    pass[SINCE_OPEN] = 0;
    pass[NEXT_AT] = passes->size_bytes[file];
}

static void maybe_next_pass(struct tfd_passes *passes, int32_t file, int64_t *pass)
{
    int64_t size = passes->size_bytes[file];
    if (size <= 0 || pass[SINCE_OPEN] < pass[NEXT_AT])
        return;
    begin_again(passes, file, pass);
    pass[NEXT_AT] = (pass[SINCE_OPEN] / size + 1) * size;
}

static void add_read(const struct tfd_passes *passes, int64_t *pass, int64_t length, int64_t lasted_ns)
{
    if (is_longer(passes, 1, length, lasted_ns)) {
        pass[SLOW]++;
        pass[SLOW_NS] += lasted_ns;
    }
    pass[CALLS]++;
    pass[MOVED] += length;
    pass[SINCE_OPEN] += length;
    pass[READ_NS] += lasted_ns;
}

static void add_call(struct tfd_passes *passes, const struct tfd_input_calls *calls, size_t call)
{
    uint8_t kind = calls->kind[call];
    int32_t file = calls->file[call], thread = calls->thread[call];
    int64_t place = find_pass(passes, file, thread);
    bool goes_on = place && kind != TFD_OPENS;
    if (!place && kind == TFD_CLOSES)
        return;
    if (!place)
        place = take_pass(passes, file, thread);
    int64_t *pass = pass_at(passes, place);
    if (goes_on)
        maybe_next_pass(passes, file, pass);
    else
        open_file(passes, file, pass);
    if (kind == TFD_READS)
        add_read(passes, pass, calls->length[call], calls->end_ns[call] - calls->start_ns[call]);
    else if (kind == TFD_CLOSES)
        leave_pass(passes, file, place);
}

void tfd_add_passes(struct tfd_passes *passes, const struct tfd_input_calls *calls)
{
    for (size_t i = 0; i < calls->count; i++) {
        if (i + AHEAD < calls->count)
            __builtin_prefetch(passes->first + calls->file[i + AHEAD], 1);
        if (calls->kind[i] == TFD_READS || calls->kind[i] == TFD_OPENS || calls->kind[i] == TFD_CLOSES)
            add_call(passes, calls, i);
    }
}

void tfd_end_passes(struct tfd_passes *passes, size_t files)
{
    for (size_t file = 0; file < files; file++) {
        for (int64_t place = passes->first[file]; place; place = pass_at(passes, place)[FOLLOWING])
            judge(passes, (int32_t)file, pass_at(passes, place));
        passes->first[file] = 0;
    }
}
