/* Wrappers of streams of wide characters. They count bytes, not characters. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#include "base/stream_descriptor.h"
#include "hooks/hook_table.h"
#include "recorder/recorder_calls.h"
#include "wrappers/stream_calls.h"
#include "wrappers/wrappers.h"

/* Return the bytes of the character in the locale's encoding. */
static inline ssize_t bytes_of_character(wchar_t character)
{
    char bytes[MB_LEN_MAX];
    mbstate_t state = {0};
    int saved_errno = errno;
    size_t count = wcrtomb(bytes, character, &state);
    errno = saved_errno;
    return count == (size_t)-1 ? 1 : (ssize_t)count;
}

static inline wint_t counted_getwc(tfd_fgetwc_function *next, FILE *stream)
{
    uint64_t start = tfd_begin_stream_call(stream);
    wint_t character = next(stream);
    tfd_record_stream_read(stream, character == WEOF ? 0 : (size_t)bytes_of_character((wchar_t)character), 0,
                           start);
    return character;
}

wint_t tfd_wrap_fgetwc(FILE *stream)
{
    return counted_getwc(TFD_NEXT(fgetwc), stream);
}

wint_t tfd_wrap_getwc(FILE *stream)
{
    return counted_getwc(TFD_NEXT(getwc), stream);
}

wint_t tfd_wrap_fgetwc_unlocked(FILE *stream)
{
    return counted_getwc(TFD_NEXT(fgetwc_unlocked), stream);
}

wint_t tfd_wrap_getwc_unlocked(FILE *stream)
{
    return counted_getwc(TFD_NEXT(getwc_unlocked), stream);
}

wint_t tfd_wrap_getwchar(void)
{
    return tfd_wrap_getwc(stdin);
}

wint_t tfd_wrap_getwchar_unlocked(void)
{
    return tfd_wrap_getwc_unlocked(stdin);
}

static inline ssize_t bytes_of_text(const wchar_t *text)
{
    ssize_t bytes = 0;
    while (*text)
        bytes += bytes_of_character(*text++);
    return bytes;
}

static inline wchar_t *counted_fgetws(tfd_fgetws_function *next, wchar_t *buffer, int size, FILE *stream)
{
    uint64_t start = tfd_begin_stream_call(stream);
    wchar_t *line = next(buffer, size, stream);
    tfd_record_stream_read(stream, line ? (size_t)bytes_of_text(line) : 0, 0, start);
    return line;
}

wchar_t *tfd_wrap_fgetws(wchar_t *buffer, int size, FILE *stream)
{
    return counted_fgetws(TFD_NEXT(fgetws), buffer, size, stream);
}

wchar_t *tfd_wrap_fgetws_unlocked(wchar_t *buffer, int size, FILE *stream)
{
    return counted_fgetws(TFD_NEXT(fgetws_unlocked), buffer, size, stream);
}

static inline wchar_t *counted_fgetws_checked(tfd___fgetws_chk_function *next, wchar_t *buffer, size_t room,
                                              int size, FILE *stream)
{
    uint64_t start = tfd_begin_stream_call(stream);
    wchar_t *line = next(buffer, room, size, stream);
    tfd_record_stream_read(stream, line ? (size_t)bytes_of_text(line) : 0, 0, start);
    return line;
}

wchar_t *tfd_wrap___fgetws_chk(wchar_t *buffer, size_t room, int size, FILE *stream)
{
    return counted_fgetws_checked(TFD_NEXT(__fgetws_chk), buffer, room, size, stream);
}

wchar_t *tfd_wrap___fgetws_unlocked_chk(wchar_t *buffer, size_t room, int size, FILE *stream)
{
    return counted_fgetws_checked(TFD_NEXT(__fgetws_unlocked_chk), buffer, room, size, stream);
}

wint_t tfd_wrap_ungetwc(wint_t character, FILE *stream)
{
    wint_t given_back = TFD_NEXT(ungetwc)(character, stream);
    if (given_back != WEOF)
        tfd_record_stream_given_back(stream, bytes_of_character((wchar_t)character));
    return given_back;
}

/* Only the stream's position tells how many bytes a conversion consumed or wrote. */
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
    uint64_t start = tfd_begin_stream_call(stream);
    int items = next(stream, format, arguments);
    tfd_record_stream_read(stream, (size_t)moved_since(stream, before), items ? TFD_FLAG_EMPTY_COUNTS : 0,
                           start);
    return items;
}

int tfd_wrap_vfwscanf(FILE *stream, const wchar_t *format, va_list arguments)
{
    return counted_vfwscanf(TFD_NEXT(vfwscanf), stream, format, arguments);
}

int tfd_wrap_vwscanf(const wchar_t *format, va_list arguments)
{
    return tfd_wrap_vfwscanf(stdin, format, arguments);
}

int tfd_wrap_fwscanf(FILE *stream, const wchar_t *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int items = tfd_wrap_vfwscanf(stream, format, arguments);
    va_end(arguments);
    return items;
}

int tfd_wrap_wscanf(const wchar_t *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int items = tfd_wrap_vfwscanf(stdin, format, arguments);
    va_end(arguments);
    return items;
}

int tfd_wrap___isoc99_vfwscanf(FILE *stream, const wchar_t *format, va_list arguments)
{
    return counted_vfwscanf(TFD_NEXT(__isoc99_vfwscanf), stream, format, arguments);
}

int tfd_wrap___isoc99_vwscanf(const wchar_t *format, va_list arguments)
{
    return tfd_wrap___isoc99_vfwscanf(stdin, format, arguments);
}

int tfd_wrap___isoc99_fwscanf(FILE *stream, const wchar_t *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int items = tfd_wrap___isoc99_vfwscanf(stream, format, arguments);
    va_end(arguments);
    return items;
}

int tfd_wrap___isoc99_wscanf(const wchar_t *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int items = tfd_wrap___isoc99_vfwscanf(stdin, format, arguments);
    va_end(arguments);
    return items;
}

int tfd_wrap___isoc23_vfwscanf(FILE *stream, const wchar_t *format, va_list arguments)
{
    return counted_vfwscanf(TFD_NEXT(__isoc23_vfwscanf), stream, format, arguments);
}

int tfd_wrap___isoc23_vwscanf(const wchar_t *format, va_list arguments)
{
    return tfd_wrap___isoc23_vfwscanf(stdin, format, arguments);
}

int tfd_wrap___isoc23_fwscanf(FILE *stream, const wchar_t *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int items = tfd_wrap___isoc23_vfwscanf(stream, format, arguments);
    va_end(arguments);
    return items;
}

int tfd_wrap___isoc23_wscanf(const wchar_t *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int items = tfd_wrap___isoc23_vfwscanf(stdin, format, arguments);
    va_end(arguments);
    return items;
}

static inline wint_t counted_putwc(tfd_fputwc_function *next, wchar_t character, FILE *stream)
{
    uint64_t start = tfd_begin_stream_call(stream);
    wint_t written = next(character, stream);
    tfd_record_stream_write(stream, written == WEOF ? -1 : bytes_of_character(character), 0, start);
    return written;
}

wint_t tfd_wrap_fputwc(wchar_t character, FILE *stream)
{
    return counted_putwc(TFD_NEXT(fputwc), character, stream);
}

wint_t tfd_wrap_putwc(wchar_t character, FILE *stream)
{
    return counted_putwc(TFD_NEXT(putwc), character, stream);
}

wint_t tfd_wrap_fputwc_unlocked(wchar_t character, FILE *stream)
{
    return counted_putwc(TFD_NEXT(fputwc_unlocked), character, stream);
}

wint_t tfd_wrap_putwc_unlocked(wchar_t character, FILE *stream)
{
    return counted_putwc(TFD_NEXT(putwc_unlocked), character, stream);
}

wint_t tfd_wrap_putwchar(wchar_t character)
{
    return tfd_wrap_putwc(character, stdout);
}

wint_t tfd_wrap_putwchar_unlocked(wchar_t character)
{
    return tfd_wrap_putwc_unlocked(character, stdout);
}

static inline int counted_fputws(tfd_fputws_function *next, const wchar_t *text, FILE *stream)
{
    uint64_t start = tfd_begin_stream_call(stream);
    int status = next(text, stream);
    tfd_record_stream_write(stream, status < 0 ? -1 : bytes_of_text(text), TFD_FLAG_EMPTY_COUNTS, start);
    return status;
}

int tfd_wrap_fputws(const wchar_t *text, FILE *stream)
{
    return counted_fputws(TFD_NEXT(fputws), text, stream);
}

int tfd_wrap_fputws_unlocked(const wchar_t *text, FILE *stream)
{
    return counted_fputws(TFD_NEXT(fputws_unlocked), text, stream);
}

static inline int counted_vfwprintf(tfd_vfwprintf_function *next, FILE *stream, const wchar_t *format,
                                    va_list arguments)
{
    off_t before = position_before(stream);
    uint64_t start = tfd_begin_stream_call(stream);
    int written = next(stream, format, arguments);
    tfd_record_stream_write(stream, written < 0 ? -1 : moved_since(stream, before), 0, start);
    return written;
}

int tfd_wrap_vfwprintf(FILE *stream, const wchar_t *format, va_list arguments)
{
    return counted_vfwprintf(TFD_NEXT(vfwprintf), stream, format, arguments);
}

static inline int counted_vfwprintf_checked(tfd___vfwprintf_chk_function *next, FILE *stream, int flag,
                                            const wchar_t *format, va_list arguments)
{
    off_t before = position_before(stream);
    uint64_t start = tfd_begin_stream_call(stream);
    int written = next(stream, flag, format, arguments);
    tfd_record_stream_write(stream, written < 0 ? -1 : moved_since(stream, before), 0, start);
    return written;
}

int tfd_wrap___vfwprintf_chk(FILE *stream, int flag, const wchar_t *format, va_list arguments)
{
    return counted_vfwprintf_checked(TFD_NEXT(__vfwprintf_chk), stream, flag, format, arguments);
}

int tfd_wrap_fwprintf(FILE *stream, const wchar_t *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int written = tfd_wrap_vfwprintf(stream, format, arguments);
    va_end(arguments);
    return written;
}

int tfd_wrap___fwprintf_chk(FILE *stream, int flag, const wchar_t *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int written = tfd_wrap___vfwprintf_chk(stream, flag, format, arguments);
    va_end(arguments);
    return written;
}

int tfd_wrap_vwprintf(const wchar_t *format, va_list arguments)
{
    return tfd_wrap_vfwprintf(stdout, format, arguments);
}

int tfd_wrap___vwprintf_chk(int flag, const wchar_t *format, va_list arguments)
{
    return tfd_wrap___vfwprintf_chk(stdout, flag, format, arguments);
}

int tfd_wrap_wprintf(const wchar_t *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int written = tfd_wrap_vfwprintf(stdout, format, arguments);
    va_end(arguments);
    return written;
}

int tfd_wrap___wprintf_chk(int flag, const wchar_t *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int written = tfd_wrap___vfwprintf_chk(stdout, flag, format, arguments);
    va_end(arguments);
    return written;
}
