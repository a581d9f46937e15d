/* Wrappers of calls that read from a stream. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/stream_descriptor.h"
#include "hooks/hook_table.h"
#include "recorder/recorder_calls.h"
#include "wrappers/stream_calls.h"
#include "wrappers/wrappers.h"

static void find_position(FILE *stream)
{
    int saved_errno = errno, fd = tfd_descriptor_of(stream);
    off_t position = tfd_descriptor_is_file(fd) ? ftello(stream) : -1;
    if (position >= 0)
        tfd_record_position(fd, position);
    errno = saved_errno;
}

/* Of an item that is there in part the bytes are read, but do not count, as for Darshan: the file ends behind them. */
static inline TFD_HOT void record_items(FILE *stream, size_t got, size_t size, size_t items, uint64_t start)
{
    bool in_part = got < items && size > 1;
    if (in_part && !got)
        find_position(stream);
    tfd_record_stream_read(stream, got * size, 0, start);
    if (in_part && got)
        find_position(stream);
}

static inline TFD_HOT size_t counted_fread(tfd_fread_function *next, void *buffer, size_t size, size_t items,
                                           FILE *stream)
{
    uint64_t start = tfd_begin_stream_call(stream);
    size_t got = next(buffer, size, items, stream);
    record_items(stream, got, size, items, start);
    return got;
}

size_t tfd_wrap_fread(void *buffer, size_t size, size_t items, FILE *stream)
{
    return counted_fread(TFD_NEXT(fread), buffer, size, items, stream);
}

size_t tfd_wrap_fread_unlocked(void *buffer, size_t size, size_t items, FILE *stream)
{
    return counted_fread(TFD_NEXT(fread_unlocked), buffer, size, items, stream);
}

static inline size_t counted_fread_checked(tfd___fread_chk_function *next, void *buffer, size_t room,
                                           size_t size, size_t items, FILE *stream)
{
    uint64_t start = tfd_begin_stream_call(stream);
    size_t got = next(buffer, room, size, items, stream);
    record_items(stream, got, size, items, start);
    return got;
}

size_t tfd_wrap___fread_chk(void *buffer, size_t room, size_t size, size_t items, FILE *stream)
{
    return counted_fread_checked(TFD_NEXT(__fread_chk), buffer, room, size, items, stream);
}

size_t tfd_wrap___fread_unlocked_chk(void *buffer, size_t room, size_t size, size_t items, FILE *stream)
{
    return counted_fread_checked(TFD_NEXT(__fread_unlocked_chk), buffer, room, size, items, stream);
}

static inline char *counted_fgets(tfd_fgets_function *next, char *buffer, int size, FILE *stream)
{
    uint64_t start = tfd_begin_stream_call(stream);
    char *line = next(buffer, size, stream);
    tfd_record_stream_read(stream, line ? strlen(line) : 0, 0, start);
    return line;
}

char *tfd_wrap_fgets(char *buffer, int size, FILE *stream)
{
    return counted_fgets(TFD_NEXT(fgets), buffer, size, stream);
}

char *tfd_wrap_fgets_unlocked(char *buffer, int size, FILE *stream)
{
    return counted_fgets(TFD_NEXT(fgets_unlocked), buffer, size, stream);
}

static inline char *counted_fgets_checked(tfd___fgets_chk_function *next, char *buffer, size_t room, int size,
                                          FILE *stream)
{
    uint64_t start = tfd_begin_stream_call(stream);
    char *line = next(buffer, room, size, stream);
    tfd_record_stream_read(stream, line ? strlen(line) : 0, 0, start);
    return line;
}

char *tfd_wrap___fgets_chk(char *buffer, size_t room, int size, FILE *stream)
{
    return counted_fgets_checked(TFD_NEXT(__fgets_chk), buffer, room, size, stream);
}

char *tfd_wrap___fgets_unlocked_chk(char *buffer, size_t room, int size, FILE *stream)
{
    return counted_fgets_checked(TFD_NEXT(__fgets_unlocked_chk), buffer, room, size, stream);
}

static inline int counted_getc(tfd_getc_function *next, FILE *stream)
{
    uint64_t start = tfd_begin_stream_call(stream);
    int character = next(stream);
    tfd_record_stream_read(stream, character != EOF, 0, start);
    return character;
}

int tfd_wrap_fgetc(FILE *stream)
{
    return counted_getc(TFD_NEXT(fgetc), stream);
}

int tfd_wrap_getc(FILE *stream)
{
    return counted_getc(TFD_NEXT(getc), stream);
}

int tfd_wrap__IO_getc(FILE *stream)
{
    return counted_getc(TFD_NEXT(_IO_getc), stream);
}

int tfd_wrap_fgetc_unlocked(FILE *stream)
{
    return counted_getc(TFD_NEXT(fgetc_unlocked), stream);
}

int tfd_wrap_getc_unlocked(FILE *stream)
{
    return counted_getc(TFD_NEXT(getc_unlocked), stream);
}

int tfd_wrap_getw(FILE *stream)
{
    uint64_t start = tfd_begin_stream_call(stream);
    int word = TFD_NEXT(getw)(stream);
    tfd_record_stream_read(stream, feof_unlocked(stream) || ferror_unlocked(stream) ? 0 : sizeof word, 0,
                           start);
    return word;
}

ssize_t tfd_wrap_getline(char **line, size_t *capacity, FILE *stream)
{
    uint64_t start = tfd_begin_stream_call(stream);
    ssize_t length = TFD_NEXT(getline)(line, capacity, stream);
    tfd_record_stream_read(stream, length < 0 ? 0 : (size_t)length, 0, start);
    return length;
}

static inline ssize_t counted_getdelim(tfd_getdelim_function *next, char **line, size_t *capacity,
                                       int delimiter, FILE *stream)
{
    uint64_t start = tfd_begin_stream_call(stream);
    ssize_t length = next(line, capacity, delimiter, stream);
    tfd_record_stream_read(stream, length < 0 ? 0 : (size_t)length, 0, start);
    return length;
}

ssize_t tfd_wrap_getdelim(char **line, size_t *capacity, int delimiter, FILE *stream)
{
    return counted_getdelim(TFD_NEXT(getdelim), line, capacity, delimiter, stream);
}

ssize_t tfd_wrap___getdelim(char **line, size_t *capacity, int delimiter, FILE *stream)
{
    return counted_getdelim(TFD_NEXT(__getdelim), line, capacity, delimiter, stream);
}

int tfd_wrap_ungetc(int character, FILE *stream)
{
    tfd_stream_begin(stream);
    int given_back = TFD_NEXT(ungetc)(character, stream);
    if (given_back != EOF)
        tfd_record_stream_given_back(stream, 1);
    return given_back;
}

/* Only the stream's position tells how many bytes a conversion consumed. */
static inline int counted_vfscanf(tfd_vfscanf_function *next, FILE *stream, const char *format,
                                  va_list arguments)
{
    uint64_t start = tfd_begin_stream_call(stream);
    bool is_file = tfd_descriptor_is_file(tfd_descriptor_of(stream));
    off_t before = is_file ? ftello(stream) : 0;
    start = is_file ? tfd_ticks() : start;
    int items = next(stream, format, arguments);
    int saved_errno = errno;
    off_t after = is_file ? ftello(stream) : 0;
    errno = saved_errno;
    tfd_record_stream_read(stream, after > before ? (size_t)(after - before) : 0,
                           items ? TFD_FLAG_EMPTY_COUNTS : 0, start);
    return items;
}

int tfd_wrap_vfscanf(FILE *stream, const char *format, va_list arguments)
{
    return counted_vfscanf(TFD_NEXT(vfscanf), stream, format, arguments);
}

int tfd_wrap___isoc99_vfscanf(FILE *stream, const char *format, va_list arguments)
{
    return counted_vfscanf(TFD_NEXT(__isoc99_vfscanf), stream, format, arguments);
}

int tfd_wrap___isoc23_vfscanf(FILE *stream, const char *format, va_list arguments)
{
    return counted_vfscanf(TFD_NEXT(__isoc23_vfscanf), stream, format, arguments);
}

/* A variadic call can only be passed on to the function that takes a va_list. */
int tfd_wrap_fscanf(FILE *stream, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int items = tfd_wrap_vfscanf(stream, format, arguments);
    va_end(arguments);
    return items;
}

int tfd_wrap___isoc99_fscanf(FILE *stream, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int items = tfd_wrap___isoc99_vfscanf(stream, format, arguments);
    va_end(arguments);
    return items;
}

int tfd_wrap___isoc23_fscanf(FILE *stream, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int items = tfd_wrap___isoc23_vfscanf(stream, format, arguments);
    va_end(arguments);
    return items;
}

int tfd_wrap_vscanf(const char *format, va_list arguments)
{
    return tfd_wrap_vfscanf(stdin, format, arguments);
}

int tfd_wrap_scanf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int items = tfd_wrap_vfscanf(stdin, format, arguments);
    va_end(arguments);
    return items;
}

int tfd_wrap___isoc99_vscanf(const char *format, va_list arguments)
{
    return tfd_wrap___isoc99_vfscanf(stdin, format, arguments);
}

int tfd_wrap___isoc99_scanf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int items = tfd_wrap___isoc99_vfscanf(stdin, format, arguments);
    va_end(arguments);
    return items;
}

int tfd_wrap___isoc23_vscanf(const char *format, va_list arguments)
{
    return tfd_wrap___isoc23_vfscanf(stdin, format, arguments);
}

int tfd_wrap___isoc23_scanf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int items = tfd_wrap___isoc23_vfscanf(stdin, format, arguments);
    va_end(arguments);
    return items;
}

int tfd_wrap_getchar(void)
{
    uint64_t start = tfd_begin_stream_call(stdin);
    int character = TFD_NEXT(getchar)();
    tfd_record_stream_read(stdin, character != EOF, 0, start);
    return character;
}

int tfd_wrap_getchar_unlocked(void)
{
    uint64_t start = tfd_begin_stream_call(stdin);
    int character = TFD_NEXT(getchar_unlocked)();
    tfd_record_stream_read(stdin, character != EOF, 0, start);
    return character;
}

/* gets() reads the line's end without returning it. The file's last line may have none. */
static void record_gets(const char *line, uint64_t start)
{
    tfd_record_stream_read(stdin, line ? strlen(line) + !feof_unlocked(stdin) : 0, 0, start);
}

char *tfd_wrap_gets(char *buffer)
{
    uint64_t start = tfd_begin_stream_call(stdin);
    char *line = TFD_NEXT(gets)(buffer);
    record_gets(line, start);
    return line;
}

char *tfd_wrap___gets_chk(char *buffer, size_t room)
{
    uint64_t start = tfd_begin_stream_call(stdin);
    char *line = TFD_NEXT(__gets_chk)(buffer, room);
    record_gets(line, start);
    return line;
}

/* getc_unlocked calls __uflow once the buffer is empty. */
int tfd_wrap___uflow(FILE *stream)
{
    return counted_getc(TFD_NEXT(__uflow), stream);
}
