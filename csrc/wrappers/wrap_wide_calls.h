/* The bodies that several wide symbols share. */
#ifndef TFD_WRAP_WIDE_CALLS_H
#define TFD_WRAP_WIDE_CALLS_H

#include <limits.h>
#include <wchar.h>

#include "wrappers/wrap_stdio_calls.h"

/* How many bytes the characters are in a file of the locale's encoding. */
static inline ssize_t bytes_of_character(wchar_t character)
{
    char bytes[MB_LEN_MAX];
    mbstate_t state = {0};
    int saved_errno = errno;
    size_t count = wcrtomb(bytes, character, &state);
    errno = saved_errno;
    return count == (size_t)-1 ? 1 : (ssize_t)count;
}

static inline ssize_t bytes_of_text(const wchar_t *text)
{
    ssize_t bytes = 0;
    while (*text)
        bytes += bytes_of_character(*text++);
    return bytes;
}

static inline wint_t counted_getwc(tfd_fgetwc_function *next, FILE *stream)
{
    uint64_t start = begin_stream_call(stream);
    wint_t character = next(stream);
    record_stream_read(stream, character == WEOF ? 0 : (size_t)bytes_of_character((wchar_t)character), 0,
                       start);
    return character;
}

static inline wchar_t *counted_fgetws(tfd_fgetws_function *next, wchar_t *buffer, int size, FILE *stream)
{
    uint64_t start = begin_stream_call(stream);
    wchar_t *line = next(buffer, size, stream);
    record_stream_read(stream, line ? (size_t)bytes_of_text(line) : 0, 0, start);
    return line;
}

static inline wchar_t *counted_fgetws_checked(tfd___fgetws_chk_function *next, wchar_t *buffer, size_t room,
                                              int size, FILE *stream)
{
    uint64_t start = begin_stream_call(stream);
    wchar_t *line = next(buffer, room, size, stream);
    record_stream_read(stream, line ? (size_t)bytes_of_text(line) : 0, 0, start);
    return line;
}

static inline wint_t counted_putwc(tfd_fputwc_function *next, wchar_t character, FILE *stream)
{
    uint64_t start = begin_stream_call(stream);
    wint_t written = next(character, stream);
    record_stream_write(stream, written == WEOF ? -1 : bytes_of_character(character), 0, start);
    return written;
}

static inline int counted_fputws(tfd_fputws_function *next, const wchar_t *text, FILE *stream)
{
    uint64_t start = begin_stream_call(stream);
    int status = next(text, stream);
    record_stream_write(stream, status < 0 ? -1 : bytes_of_text(text), TFD_FLAG_EMPTY_COUNTS, start);
    return status;
}

/* How much a conversion consumed or gave only the stream's position tells. */
static inline off_t position_before(FILE *stream)
{
    return tfd_descriptor_is_file(tfd_descriptor_of(stream)) ? ftello(stream) : 0;
}

static inline ssize_t moved_since(FILE *stream, off_t before)
{
    int saved_errno = errno;
    ssize_t moved = (ssize_t)(position_before(stream) - before);
    errno = saved_errno;
    return moved > 0 ? moved : 0;
}

static inline int counted_vfwscanf(tfd_vfwscanf_function *next, FILE *stream, const wchar_t *format,
                                   va_list arguments)
{
    off_t before = position_before(stream);
    uint64_t start = begin_stream_call(stream);
    int items = next(stream, format, arguments);
    record_stream_read(stream, (size_t)moved_since(stream, before), items ? TFD_FLAG_EMPTY_COUNTS : 0, start);
    return items;
}

static inline int counted_vfwprintf(tfd_vfwprintf_function *next, FILE *stream, const wchar_t *format,
                                    va_list arguments)
{
    off_t before = position_before(stream);
    uint64_t start = begin_stream_call(stream);
    int written = next(stream, format, arguments);
    record_stream_write(stream, written < 0 ? -1 : moved_since(stream, before), 0, start);
    return written;
}

static inline int counted_vfwprintf_checked(tfd___vfwprintf_chk_function *next, FILE *stream, int flag,
                                            const wchar_t *format, va_list arguments)
{
    off_t before = position_before(stream);
    uint64_t start = begin_stream_call(stream);
    int written = next(stream, flag, format, arguments);
    record_stream_write(stream, written < 0 ? -1 : moved_since(stream, before), 0, start);
    return written;
}

#endif
