/* Passes of random reads, which the page cache or storage served, block by block, against a computation file by file
 * and thread by thread. Each block has exactly the room that the core asks for. */
#define _GNU_SOURCE
#include "check.h"
#include "offline/aggregate/aggregate.h"

enum { MOST_CALLS = 200, FILES = 4, THREADS = 5 };
enum { CALL_NS = 20, BYTE_NS = 1, MANY_SLOW = 2, AHEAD_BYTES = 40 };

static int64_t start_ns[MOST_CALLS], end_ns[MOST_CALLS], length[MOST_CALLS], size_bytes[FILES];
static int32_t file[MOST_CALLS], thread[MOST_CALLS];
static uint8_t kind[MOST_CALLS];
static size_t count, ahead;
static uint64_t state = 88172645463325252ull;

struct judged { /* passes that storage served */
    int64_t ns[FILES], bytes[FILES];
};

struct pass {
    bool is_on;
    int64_t calls, bytes, ns, slow, slow_ns;
};

static int64_t below(int64_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int64_t)(state % (uint64_t)limit);
}

static void draw(void)
{
    static const uint8_t often[] = {TFD_READS, TFD_READS, TFD_READS, TFD_OPENS, TFD_CLOSES};
    int64_t at = 0;
    count = (size_t)below(MOST_CALLS + 1);
    for (size_t i = 0; i < count; i++) {
        at += below(8);
        start_ns[i] = at;
        end_ns[i] = at + below(80);
        kind[i] = below(6) ? often[below(sizeof often)] : (uint8_t)below(TFD_CALL_KINDS);
        length[i] = kind[i] == TFD_READS ? below(50) : 0;
        file[i] = (int32_t)below(FILES);
        thread[i] = (int32_t)below(THREADS);
    }
    for (int i = 0; i < FILES; i++)
        size_bytes[i] = below(4) ? below(90) : -1;
}

static void end_by_hand(struct judged *judged, int which, struct pass *pass)
{
    bool is_long = pass->ns > pass->calls * CALL_NS + pass->bytes * BYTE_NS;
    bool is_ahead =
        pass->slow >= MANY_SLOW && 2 * pass->slow_ns > pass->ns && pass->slow * AHEAD_BYTES >= pass->bytes;
    ahead += !is_long && is_ahead;
    if (is_long || is_ahead) {
        judged->ns[which] += pass->ns;
        judged->bytes[which] += pass->bytes;
    }
    *pass = (struct pass){.is_on = true};
}

/* A pass goes from an open to a close, to the next open, or until as many bytes were read as the file has. */
static void judge_by_hand(struct judged *judged, int which, int who)
{
    struct pass pass = {0};
    int64_t read = 0, whole = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_open = kind[i] == TFD_OPENS, is_close = kind[i] == TFD_CLOSES;
        if (file[i] != which || thread[i] != who || !(is_open || is_close || kind[i] == TFD_READS))
            continue;
        if (is_close && !pass.is_on)
            continue;
        if (is_open || !pass.is_on) {
            end_by_hand(judged, which, &pass);
            read = whole = 0;
        } else if (size_bytes[which] > 0 && read / size_bytes[which] > whole) {
            end_by_hand(judged, which, &pass);
            whole = read / size_bytes[which];
        }
        if (kind[i] == TFD_READS) {
            pass.calls++;
            pass.bytes += length[i];
            pass.ns += end_ns[i] - start_ns[i];
            if (end_ns[i] - start_ns[i] > CALL_NS + length[i] * BYTE_NS) {
                pass.slow++;
                pass.slow_ns += end_ns[i] - start_ns[i];
            }
            read += length[i];
        }
        if (is_close) {
            end_by_hand(judged, which, &pass);
            pass.is_on = false;
        }
    }
    end_by_hand(judged, which, &pass);
}

static void add_blocks(struct tfd_passes *passes)
{
    for (size_t at = 0; at < count;) {
        size_t size = 1 + (size_t)below((int64_t)(count - at));
        struct tfd_input_calls block = {start_ns + at, end_ns + at, length + at, file + at,
                                        thread + at,   kind + at,   size};
        size_t room = ((size_t)passes->used + size) * TFD_PASS_NUMBERS * sizeof *passes->held;
        passes->held = realloc(passes->held, room);
        CHECK(passes->held);
        tfd_add_passes(passes, &block);
        at += size;
    }
    tfd_end_passes(passes, FILES);
    free(passes->held);
}

static void check_passes(void)
{
    int32_t first[FILES] = {0};
    int64_t stored_ns[FILES] = {0}, stored_bytes[FILES] = {0};
    struct tfd_passes passes = {.size_bytes = size_bytes,
                                .call_s = CALL_NS * 1e-9,
                                .byte_s = BYTE_NS * 1e-9,
                                .many_slow = MANY_SLOW,
                                .ahead_bytes = AHEAD_BYTES,
                                .first = first,
                                .used = 1,
                                .stored_ns = stored_ns,
                                .stored_bytes = stored_bytes};
    struct judged judged = {0};
    add_blocks(&passes);
    for (int which = 0; which < FILES; which++) {
        for (int who = 0; who < THREADS; who++)
            judge_by_hand(&judged, which, who);
        CHECK_EQUAL(stored_ns[which], judged.ns[which]);
        CHECK_EQUAL(stored_bytes[which], judged.bytes[which]);
        CHECK_EQUAL(first[which], 0);
    }
}

int main(int argc, char **argv)
{
    for (long i = check_repeats(argc, argv, 2000); i > 0; i--) {
        draw();
        check_passes();
    }
    CHECK(ahead > 0);
    return 0;
}
