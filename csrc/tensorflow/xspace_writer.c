#include "tensorflow/xspace_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIRE_VARINT, WIRE_FIXED64, WIRE_LENGTH };

/* Bytes of a message's length. It is known once the message is written, so there is room for the
 * longest, and a shorter one is padded. Readers of protobuf accept that. */
#define LENGTH_BYTES 5

void tfd_bytes_free(struct tfd_bytes *out)
{
    free(out->data);
    *out = (struct tfd_bytes){0};
}

static bool has_room(struct tfd_bytes *out, size_t more)
{
    if (out->failed || more > out->limit - out->length) {
        out->failed = true;
        return false;
    }
    if (out->length + more <= out->capacity)
        return true;
    size_t capacity = out->capacity ? out->capacity * 2 : 65536;
    if (capacity < out->length + more)
        capacity = out->length + more;
    uint8_t *larger = realloc(out->data, capacity);
    if (!larger) {
        out->failed = true;
        return false;
    }
    out->data = larger;
    out->capacity = capacity;
    return true;
}

void tfd_bytes_append(struct tfd_bytes *out, const void *data, size_t length)
{
    if (!length || !has_room(out, length))
        return;
    memcpy(out->data + out->length, data, length);
    out->length += length;
}

void tfd_bytes_varint(struct tfd_bytes *out, uint64_t value)
{
    uint8_t bytes[10];
    size_t length = 0;
    do {
        bytes[length++] = (uint8_t)(value | 0x80);
        value >>= 7;
    } while (value);
    bytes[length - 1] &= 0x7f;
    tfd_bytes_append(out, bytes, length);
}

static void tag(struct tfd_bytes *out, uint32_t field, uint32_t wire)
{
    tfd_bytes_varint(out, field << 3 | wire);
}

void tfd_field_int(struct tfd_bytes *out, uint32_t field, int64_t value)
{
    tag(out, field, WIRE_VARINT);
    tfd_bytes_varint(out, (uint64_t)value);
}

void tfd_field_double(struct tfd_bytes *out, uint32_t field, double value)
{
    uint64_t bits;
    uint8_t bytes[8];
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(bits >> 8 * i);
    tag(out, field, WIRE_FIXED64);
    tfd_bytes_append(out, bytes, sizeof bytes);
}

void tfd_field_bytes(struct tfd_bytes *out, uint32_t field, const void *data, size_t length)
{
    tag(out, field, WIRE_LENGTH);
    tfd_bytes_varint(out, length);
    tfd_bytes_append(out, data, length);
}

/* Return the length of the UTF-8 character that the text begins with, 0 if there is none. */
static size_t character_length(const uint8_t *text, size_t length)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    uint8_t first = text[0];
    if (first < 0x80)
        return 1;
    size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || size > length)
        return 0;
    uint32_t code = first & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3f);
    }
    bool surrogate = code >= 0xd800 && code < 0xe000;
    return code < smallest[size] || code > 0x10ffff || surrogate ? 0 : size;
}

void tfd_field_text(struct tfd_bytes *out, uint32_t field, const char *text, size_t length)
{
    const uint8_t *bytes = (const uint8_t *)text;
    size_t begun = tfd_message_begin(out, field), plain = 0, at = 0;
    while (at < length) {
        size_t size = character_length(bytes + at, length - at);
        if (size) {
            at += size;
            continue;
        }
        char escape[5];
        tfd_bytes_append(out, bytes + plain, at - plain);
        snprintf(escape, sizeof escape, "\\x%02x", bytes[at]);
        tfd_bytes_append(out, escape, 4);
        plain = ++at;
    }
    tfd_bytes_append(out, bytes + plain, length - plain);
    tfd_message_end(out, begun);
}

size_t tfd_message_begin(struct tfd_bytes *out, uint32_t field)
{
    static const uint8_t room[LENGTH_BYTES];
    tag(out, field, WIRE_LENGTH);
    tfd_bytes_append(out, room, sizeof room);
    return out->length;
}

void tfd_message_end(struct tfd_bytes *out, size_t begun)
{
    if (out->failed)
        return;
    size_t length = out->length - begun;
    uint8_t *room = out->data + begun - LENGTH_BYTES;
    for (int i = 0; i < LENGTH_BYTES; i++)
        room[i] = (uint8_t)((length >> 7 * i & 0x7f) | (i + 1 < LENGTH_BYTES ? 0x80 : 0));
}

void tfd_metadata(struct tfd_bytes *out, uint32_t field, int64_t id, const char *name, size_t length)
{
    enum { MAP_KEY = 1, MAP_VALUE, METADATA_ID = 1, METADATA_NAME };
    size_t entry = tfd_message_begin(out, field);
    tfd_field_int(out, MAP_KEY, id);
    size_t value = tfd_message_begin(out, MAP_VALUE);
    tfd_field_int(out, METADATA_ID, id);
    tfd_field_text(out, METADATA_NAME, name, length);
    tfd_message_end(out, value);
    tfd_message_end(out, entry);
}

static size_t varint_size(uint64_t value)
{
    size_t size = 1;
    while (value >>= 7)
        size++;
    return size;
}

/* This is the hot path, three calls for each event, so it does not pad. */
static void number_stat(struct tfd_bytes *out, uint32_t field, int64_t id, uint32_t kind, uint64_t value)
{
    tag(out, field, WIRE_LENGTH);
    tfd_bytes_varint(out, 2 + varint_size((uint64_t)id) + varint_size(value));
    tfd_field_int(out, TFD_XSTAT_METADATA_ID, id);
    tfd_field_int(out, kind, (int64_t)value);
}

void tfd_stat_int(struct tfd_bytes *out, uint32_t field, int64_t id, int64_t value)
{
    number_stat(out, field, id, TFD_XSTAT_INT64, (uint64_t)value);
}

void tfd_stat_ref(struct tfd_bytes *out, uint32_t field, int64_t id, int64_t named)
{
    number_stat(out, field, id, TFD_XSTAT_REF, (uint64_t)named);
}

void tfd_stat_double(struct tfd_bytes *out, uint32_t field, int64_t id, double value)
{
    size_t stat = tfd_message_begin(out, field);
    tfd_field_int(out, TFD_XSTAT_METADATA_ID, id);
    tfd_field_double(out, TFD_XSTAT_DOUBLE, value);
    tfd_message_end(out, stat);
}

void tfd_stat_bytes(struct tfd_bytes *out, uint32_t field, int64_t id, const void *data, size_t length)
{
    size_t stat = tfd_message_begin(out, field);
    tfd_field_int(out, TFD_XSTAT_METADATA_ID, id);
    tfd_field_bytes(out, TFD_XSTAT_BYTES, data, length);
    tfd_message_end(out, stat);
}
