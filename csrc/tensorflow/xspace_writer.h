/* Writes the XSpace messages of TensorFlow's profiler, by a protobuf encoder of what they need. */
#ifndef TFD_XSPACE_WRITER_H
#define TFD_XSPACE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Field numbers of xplane.proto. */
enum { TFD_XSPACE_PLANES = 1 };
enum {
    TFD_XPLANE_ID = 1,
    TFD_XPLANE_NAME,
    TFD_XPLANE_LINES,
    TFD_XPLANE_EVENT_METADATA,
    TFD_XPLANE_STAT_METADATA,
    TFD_XPLANE_STATS,
};
enum {
    TFD_XLINE_ID = 1,
    TFD_XLINE_NAME,
    TFD_XLINE_TIMESTAMP_NS,
    TFD_XLINE_EVENTS,
    TFD_XLINE_DURATION_PS = 9,
    TFD_XLINE_DISPLAY_ID,
};
enum { TFD_XEVENT_METADATA_ID = 1, TFD_XEVENT_OFFSET_PS, TFD_XEVENT_DURATION_PS, TFD_XEVENT_STATS };
enum {
    TFD_XSTAT_METADATA_ID = 1,
    TFD_XSTAT_DOUBLE,
    TFD_XSTAT_UINT64,
    TFD_XSTAT_INT64,
    TFD_XSTAT_STRING,
    TFD_XSTAT_BYTES,
    TFD_XSTAT_REF,
};

/* A growing buffer. Once it has `failed` (no memory, or `limit` reached) nothing is added. */
struct tfd_bytes {
    uint8_t *data;
    size_t length, capacity, limit;
    bool failed;
};

void tfd_bytes_free(struct tfd_bytes *out);
void tfd_bytes_append(struct tfd_bytes *out, const void *data, size_t length);
void tfd_bytes_varint(struct tfd_bytes *out, uint64_t value);

void tfd_field_int(struct tfd_bytes *out, uint32_t field, int64_t value);
void tfd_field_double(struct tfd_bytes *out, uint32_t field, double value);
void tfd_field_bytes(struct tfd_bytes *out, uint32_t field, const void *data, size_t length);
/* Write a string of UTF-8, as protobuf requires: other bytes become escapes such as \xff. */
void tfd_field_text(struct tfd_bytes *out, uint32_t field, const char *text, size_t length);

/* A message within a message, which is written between the two calls. */
size_t tfd_message_begin(struct tfd_bytes *out, uint32_t field);
void tfd_message_end(struct tfd_bytes *out, size_t begun);

/* Write an entry of a plane's event_metadata or stat_metadata: a number and its name. */
void tfd_metadata(struct tfd_bytes *out, uint32_t field, int64_t id, const char *name, size_t length);
void tfd_stat_int(struct tfd_bytes *out, uint32_t field, int64_t id, int64_t value);
void tfd_stat_double(struct tfd_bytes *out, uint32_t field, int64_t id, double value);
void tfd_stat_bytes(struct tfd_bytes *out, uint32_t field, int64_t id, const void *data, size_t length);
/* Write a string that is the name of another stat_metadata entry. */
void tfd_stat_ref(struct tfd_bytes *out, uint32_t field, int64_t id, int64_t named);

#endif
