/* Any calls of the writer of XSpace messages: what comes out is protobuf, its texts are UTF-8, and it stays within its
 * limit. */
#define _GNU_SOURCE
#include "fuzz.h"
#include "tensorflow/xspace_writer.h"

enum { MOST_OPEN = 8, MOST_CALLS = 200 };
enum { VARINT, FIXED64, LENGTH };
enum call {
    INT,
    DOUBLE,
    BYTES,
    TEXT,
    BEGIN,
    END,
    METADATA,
    STAT_INT,
    STAT_DOUBLE,
    STAT_BYTES,
    STAT_REF,
    CALLS
};

static void fuzz_begin(const char *directory)
{
    (void)directory;
}

/* Returns where it ends. */
static size_t take_varint(const struct tfd_bytes *out, size_t at, size_t end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        CHECK(at < end);
        uint8_t byte = out->data[at++];
        if (shift < 64)
            *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return at;
    }
    CHECK(!"a number of more than ten bytes");
    return end;
}

/* Fields from end to end, none of which leaves the message. */
static void check_message(const struct tfd_bytes *out, size_t at, size_t end)
{
    while (at < end) {
        uint64_t tag, value;
        at = take_varint(out, at, end, &tag);
        CHECK(tag >> 3 > 0);
        switch (tag & 7) {
        case VARINT:
            at = take_varint(out, at, end, &value);
            break;
        case FIXED64:
            at += 8;
            break;
        default:
            CHECK_EQUAL(tag & 7, LENGTH);
            at = take_varint(out, at, end, &value);
            CHECK(value <= end - at);
            at += (size_t)value;
        }
        CHECK(at <= end);
    }
}

static bool continues(const uint8_t *text, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (text[i] >> 6 != 2)
            return false;
    return true;
}

/* Table 3-7 of the Unicode Standard, row by row; returns the bytes of a character, 0 if it is none. */
static size_t character_by_table(const uint8_t *text, size_t left)
{
    static const uint8_t rows[][5] = {
        {0x00, 0x7f, 0x00, 0x00, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint8_t *row = rows[i];
        if (text[0] < row[0] || text[0] > row[1])
            continue;
        bool fits = row[4] <= left && (row[4] == 1 || (text[1] >= row[2] && text[1] <= row[3]));
        return fits && continues(text + 1, row[4] - 1u) ? row[4] : 0;
    }
    return 0;
}

/* The field that begins at `at` is the last one, and a text. */
static void check_text(const struct tfd_bytes *out, size_t at)
{
    uint64_t tag, length;
    at = take_varint(out, at, out->length, &tag);
    at = take_varint(out, at, out->length, &length);
    CHECK_EQUAL(tag & 7, LENGTH);
    CHECK_EQUAL(length, out->length - at);
    for (size_t size; at < out->length; at += size)
        CHECK((size = character_by_table(out->data + at, out->length - at)));
}

/* Some bytes of the input: never behind its end. */
static size_t take_bytes(struct fuzz_input *input, const char **bytes)
{
    size_t wanted = (size_t)fuzz_number(input, 1), size = wanted < input->size ? wanted : input->size;
    *bytes = (const char *)input->data;
    input->data += size;
    input->size -= size;
    return size;
}

static void call_writer(struct tfd_bytes *out, enum call call, uint32_t field, struct fuzz_input *input)
{
    const char *bytes;
    int64_t id = (int64_t)fuzz_number(input, 4), value = (int64_t)fuzz_number(input, 8);
    double real;
    memcpy(&real, &value, sizeof real);
    size_t size = take_bytes(input, &bytes), before = out->length;
    switch (call) {
    case INT:
        tfd_field_int(out, field, value);
        break;
    case DOUBLE:
        tfd_field_double(out, field, real);
        break;
    case BYTES:
        tfd_field_bytes(out, field, bytes, size);
        break;
    case METADATA:
        tfd_metadata(out, field, id, bytes, size);
        break;
    case STAT_INT:
        tfd_stat_int(out, field, id, value);
        break;
    case STAT_DOUBLE:
        tfd_stat_double(out, field, id, real);
        break;
    case STAT_BYTES:
        tfd_stat_bytes(out, field, id, bytes, size);
        break;
    case STAT_REF:
        tfd_stat_ref(out, field, id, value);
        break;
    default:
        tfd_field_text(out, field, bytes, size);
        if (!out->failed)
            check_text(out, before);
    }
}

static void end_message(struct tfd_bytes *out, size_t begun)
{
    tfd_message_end(out, begun);
    if (!out->failed)
        check_message(out, begun, out->length);
}

static void fuzz_one(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    uint64_t limit = fuzz_number(&input, 2);
    struct tfd_bytes out = {.limit = limit ? (size_t)limit : SIZE_MAX};
    size_t begun[MOST_OPEN];
    int open = 0;
    for (int left = MOST_CALLS; left && input.size; left--) {
        enum call call = (enum call)(fuzz_number(&input, 1) % CALLS);
        uint32_t field = 1 + (uint32_t)fuzz_number(&input, 1);
        if (call == BEGIN && open < MOST_OPEN)
            begun[open++] = tfd_message_begin(&out, field);
        else if (call == END && open)
            end_message(&out, begun[--open]);
        else
            call_writer(&out, call, field, &input);
        CHECK(out.length <= out.limit);
    }
    while (open)
        end_message(&out, begun[--open]);
    if (!out.failed)
        check_message(&out, 0, out.length);
    tfd_bytes_free(&out);
}
