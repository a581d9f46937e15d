/* Wrappers of calls that write to a stream. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hooks/hook_table.h"
#include "wrappers/stream_calls.h"
#include "wrappers/wrappers.h"

static inline size_t counted_fwrite(tfd_fwrite_function *next, const void *buffer, size_t size, size_t items,
                                    FILE *stream)
{
    uint64_t start = tfd_begin_stream_call(stream);
    size_t put = next(buffer, size, items, stream);
    tfd_record_stream_write(stream, put || !size || !items ? (ssize_t)(put * size) : -1, 0, start);
    return put;
}

size_t tfd_wrap_fwrite(const void *buffer, size_t size, size_t items, FILE *stream)
{
    return counted_fwrite(TFD_NEXT(fwrite), buffer, size, items, stream);
}

size_t tfd_wrap_fwrite_unlocked(const void *buffer, size_t size, size_t items, FILE *stream)
{
    return counted_fwrite(TFD_NEXT(fwrite_unlocked), buffer, size, items, stream);
}

static inline int counted_fputs(tfd_fputs_function *next, const char *text, FILE *stream)
{
    uint64_t start = tfd_begin_stream_call(stream);
    int status = next(text, stream);
    tfd_record_stream_write(stream, status == EOF ? -1 : (ssize_t)strlen(text), TFD_FLAG_EMPTY_COUNTS, start);
    return status;
}

int tfd_wrap_fputs(const char *text, FILE *stream)
{
    return counted_fputs(TFD_NEXT(fputs), text, stream);
}

int tfd_wrap_fputs_unlocked(const char *text, FILE *stream)
{
    return counted_fputs(TFD_NEXT(fputs_unlocked), text, stream);
}

static inline int counted_putc(tfd_putc_function *next, int character, FILE *stream)
{
    uint64_t start = tfd_begin_stream_call(stream);
    int written = next(character, stream);
    tfd_record_stream_write(stream, written == EOF ? -1 : 1, 0, start);
    return written;
}

int tfd_wrap_fputc(int character, FILE *stream)
{
    return counted_putc(TFD_NEXT(fputc), character, stream);
}

int tfd_wrap_putc(int character, FILE *stream)
{
    return counted_putc(TFD_NEXT(putc), character, stream);
}

int tfd_wrap__IO_putc(int character, FILE *stream)
{
    return counted_putc(TFD_NEXT(_IO_putc), character, stream);
}

int tfd_wrap_fputc_unlocked(int character, FILE *stream)
{
    return counted_putc(TFD_NEXT(fputc_unlocked), character, stream);
}

int tfd_wrap_putc_unlocked(int character, FILE *stream)
{
    return counted_putc(TFD_NEXT(putc_unlocked), character, stream);
}

int tfd_wrap_putw(int word, FILE *stream)
{
    uint64_t start = tfd_begin_stream_call(stream);
    int status = TFD_NEXT(putw)(word, stream);
    tfd_record_stream_write(stream, status ? -1 : (ssize_t)sizeof word, 0, start);
    return status;
}

int tfd_wrap_puts(const char *text)
{
    uint64_t start = tfd_begin_stream_call(stdout);
    int status = TFD_NEXT(puts)(text);
    tfd_record_stream_write(stdout, status < 0 ? -1 : (ssize_t)strlen(text) + 1, 0, start);
    return status;
}

int tfd_wrap_putchar(int character)
{
    uint64_t start = tfd_begin_stream_call(stdout);
    int written = TFD_NEXT(putchar)(character);
    tfd_record_stream_write(stdout, written == EOF ? -1 : 1, 0, start);
    return written;
}

int tfd_wrap_vfprintf(FILE *stream, const char *format, va_list arguments)
{
    uint64_t start = tfd_begin_stream_call(stream);
    int written = TFD_NEXT(vfprintf)(stream, format, arguments);
    tfd_record_stream_write(stream, written, 0, start);
    return written;
}

int tfd_wrap___vfprintf_chk(FILE *stream, int flag, const char *format, va_list arguments)
{
    uint64_t start = tfd_begin_stream_call(stream);
    int written = TFD_NEXT(__vfprintf_chk)(stream, flag, format, arguments);
    tfd_record_stream_write(stream, written, 0, start);
    return written;
}

int tfd_wrap_fprintf(FILE *stream, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int written = tfd_wrap_vfprintf(stream, format, arguments);
    va_end(arguments);
    return written;
}

int tfd_wrap___fprintf_chk(FILE *stream, int flag, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int written = tfd_wrap___vfprintf_chk(stream, flag, format, arguments);
    va_end(arguments);
    return written;
}

int tfd_wrap_vprintf(const char *format, va_list arguments)
{
    return tfd_wrap_vfprintf(stdout, format, arguments);
}

int tfd_wrap___vprintf_chk(int flag, const char *format, va_list arguments)
{
    return tfd_wrap___vfprintf_chk(stdout, flag, format, arguments);
}

int tfd_wrap_printf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int written = tfd_wrap_vfprintf(stdout, format, arguments);
    va_end(arguments);
    return written;
}

int tfd_wrap___printf_chk(int flag, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int written = tfd_wrap___vfprintf_chk(stdout, flag, format, arguments);
    va_end(arguments);
    return written;
}

/* putc_unlocked calls __overflow once the buffer is full. With EOF for a character it only flushes. */
int tfd_wrap___overflow(FILE *stream, int character)
{
    uint64_t start = tfd_begin_stream_call(stream);
    int written = TFD_NEXT(__overflow)(stream, character);
    tfd_record_stream_write(stream, written == EOF ? -1 : character != EOF, 0, start);
    return written;
}

int tfd_wrap_putchar_unlocked(int character)
{
    uint64_t start = tfd_begin_stream_call(stdout);
    int written = TFD_NEXT(putchar_unlocked)(character);
    tfd_record_stream_write(stdout, written == EOF ? -1 : 1, 0, start);
    return written;
}
