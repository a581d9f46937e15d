/* Wrappers of the STDIO family. A stream is known by its descriptor. What libc
 * reads and writes to fill and empty a stream's buffer passes no slot: the
 * bytes counted here are those the program asked for. */
#define _GNU_SOURCE
#include "wrappers/wrap_stdio_calls.h"
#include "wrappers/wrappers.h"

FILE *tfd_wrap_fopen(const char *path, const char *mode)
{
    return counted_fopen(TFD_NEXT(fopen), path, mode);
}

FILE *tfd_wrap_fopen64(const char *path, const char *mode)
{
    return counted_fopen(TFD_NEXT(fopen64), path, mode);
}

FILE *tfd_wrap_freopen(const char *path, const char *mode, FILE *stream)
{
    return counted_freopen(TFD_NEXT(freopen), path, mode, stream);
}

FILE *tfd_wrap_freopen64(const char *path, const char *mode, FILE *stream)
{
    return counted_freopen(TFD_NEXT(freopen64), path, mode, stream);
}

FILE *tfd_wrap_tmpfile(void)
{
    return counted_tmpfile(TFD_NEXT(tmpfile));
}

FILE *tfd_wrap_tmpfile64(void)
{
    return counted_tmpfile(TFD_NEXT(tmpfile64));
}

FILE *tfd_wrap_fdopen(int fd, const char *mode)
{
    uint64_t start = tfd_ticks();
    FILE *stream = TFD_NEXT(fdopen)(fd, mode);
    tfd_record_descriptor(TFD_OP_FDOPEN, fd, -1, 0, !stream, start);
    return stream;
}

int tfd_wrap_fclose(FILE *stream)
{
    return counted_fclose(TFD_NEXT(fclose), stream);
}

int tfd_wrap_pclose(FILE *stream)
{
    return counted_fclose(TFD_NEXT(pclose), stream);
}

int tfd_wrap_fileno(FILE *stream)
{
    return counted_fileno(TFD_NEXT(fileno), stream);
}

int tfd_wrap_fileno_unlocked(FILE *stream)
{
    return counted_fileno(TFD_NEXT(fileno_unlocked), stream);
}

size_t tfd_wrap_fread(void *buffer, size_t size, size_t items, FILE *stream)
{
    return counted_fread(TFD_NEXT(fread), buffer, size, items, stream);
}

size_t tfd_wrap_fread_unlocked(void *buffer, size_t size, size_t items, FILE *stream)
{
    return counted_fread(TFD_NEXT(fread_unlocked), buffer, size, items, stream);
}

size_t tfd_wrap___fread_chk(void *buffer, size_t room, size_t size, size_t items, FILE *stream)
{
    return counted_fread_checked(TFD_NEXT(__fread_chk), buffer, room, size, items, stream);
}

size_t tfd_wrap___fread_unlocked_chk(void *buffer, size_t room, size_t size, size_t items, FILE *stream)
{
    return counted_fread_checked(TFD_NEXT(__fread_unlocked_chk), buffer, room, size, items, stream);
}

char *tfd_wrap_fgets(char *buffer, int size, FILE *stream)
{
    return counted_fgets(TFD_NEXT(fgets), buffer, size, stream);
}

char *tfd_wrap_fgets_unlocked(char *buffer, int size, FILE *stream)
{
    return counted_fgets(TFD_NEXT(fgets_unlocked), buffer, size, stream);
}

char *tfd_wrap___fgets_chk(char *buffer, size_t room, int size, FILE *stream)
{
    return counted_fgets_checked(TFD_NEXT(__fgets_chk), buffer, room, size, stream);
}

char *tfd_wrap___fgets_unlocked_chk(char *buffer, size_t room, int size, FILE *stream)
{
    return counted_fgets_checked(TFD_NEXT(__fgets_unlocked_chk), buffer, room, size, stream);
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
    uint64_t start = begin_stream_call(stream);
    int word = TFD_NEXT(getw)(stream);
    record_stream_read(stream, feof_unlocked(stream) || ferror_unlocked(stream) ? 0 : sizeof word, 0, start);
    return word;
}

ssize_t tfd_wrap_getline(char **line, size_t *capacity, FILE *stream)
{
    uint64_t start = begin_stream_call(stream);
    ssize_t length = TFD_NEXT(getline)(line, capacity, stream);
    record_stream_read(stream, length < 0 ? 0 : (size_t)length, 0, start);
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
        record_given_back(stream, 1);
    return given_back;
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

/* A variadic function can only be forwarded through its va_list twin. */
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

size_t tfd_wrap_fwrite(const void *buffer, size_t size, size_t items, FILE *stream)
{
    return counted_fwrite(TFD_NEXT(fwrite), buffer, size, items, stream);
}

size_t tfd_wrap_fwrite_unlocked(const void *buffer, size_t size, size_t items, FILE *stream)
{
    return counted_fwrite(TFD_NEXT(fwrite_unlocked), buffer, size, items, stream);
}

int tfd_wrap_fputs(const char *text, FILE *stream)
{
    return counted_fputs(TFD_NEXT(fputs), text, stream);
}

int tfd_wrap_fputs_unlocked(const char *text, FILE *stream)
{
    return counted_fputs(TFD_NEXT(fputs_unlocked), text, stream);
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
    uint64_t start = begin_stream_call(stream);
    int status = TFD_NEXT(putw)(word, stream);
    record_stream_write(stream, status ? -1 : (ssize_t)sizeof word, 0, start);
    return status;
}

int tfd_wrap_puts(const char *text)
{
    uint64_t start = begin_stream_call(stdout);
    int status = TFD_NEXT(puts)(text);
    record_stream_write(stdout, status < 0 ? -1 : (ssize_t)strlen(text) + 1, 0, start);
    return status;
}

int tfd_wrap_putchar(int character)
{
    uint64_t start = begin_stream_call(stdout);
    int written = TFD_NEXT(putchar)(character);
    record_stream_write(stdout, written == EOF ? -1 : 1, 0, start);
    return written;
}

int tfd_wrap_vfprintf(FILE *stream, const char *format, va_list arguments)
{
    uint64_t start = begin_stream_call(stream);
    int written = TFD_NEXT(vfprintf)(stream, format, arguments);
    record_stream_write(stream, written, 0, start);
    return written;
}

int tfd_wrap___vfprintf_chk(FILE *stream, int flag, const char *format, va_list arguments)
{
    uint64_t start = begin_stream_call(stream);
    int written = TFD_NEXT(__vfprintf_chk)(stream, flag, format, arguments);
    record_stream_write(stream, written, 0, start);
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

int tfd_wrap_getchar(void)
{
    uint64_t start = begin_stream_call(stdin);
    int character = TFD_NEXT(getchar)();
    record_stream_read(stdin, character != EOF, 0, start);
    return character;
}

int tfd_wrap_getchar_unlocked(void)
{
    uint64_t start = begin_stream_call(stdin);
    int character = TFD_NEXT(getchar_unlocked)();
    record_stream_read(stdin, character != EOF, 0, start);
    return character;
}

/* The end of the line is read and not given, but at the end of the file there is none. */
static void record_gets(const char *line, uint64_t start)
{
    record_stream_read(stdin, line ? strlen(line) + !feof_unlocked(stdin) : 0, 0, start);
}

char *tfd_wrap_gets(char *buffer)
{
    uint64_t start = begin_stream_call(stdin);
    char *line = TFD_NEXT(gets)(buffer);
    record_gets(line, start);
    return line;
}

char *tfd_wrap___gets_chk(char *buffer, size_t room)
{
    uint64_t start = begin_stream_call(stdin);
    char *line = TFD_NEXT(__gets_chk)(buffer, room);
    record_gets(line, start);
    return line;
}

/* What getc_unlocked and putc_unlocked call once the buffer is empty or full. */
int tfd_wrap___uflow(FILE *stream)
{
    return counted_getc(TFD_NEXT(__uflow), stream);
}

/* Without a character it only flushes. */
int tfd_wrap___overflow(FILE *stream, int character)
{
    uint64_t start = begin_stream_call(stream);
    int written = TFD_NEXT(__overflow)(stream, character);
    record_stream_write(stream, written == EOF ? -1 : character != EOF, 0, start);
    return written;
}

int tfd_wrap_putchar_unlocked(int character)
{
    uint64_t start = begin_stream_call(stdout);
    int written = TFD_NEXT(putchar_unlocked)(character);
    record_stream_write(stdout, written == EOF ? -1 : 1, 0, start);
    return written;
}

int tfd_wrap_fseek(FILE *stream, long offset, int whence)
{
    uint64_t start = begin_stream_call(stream);
    return record_stream_seek(stream, TFD_NEXT(fseek)(stream, offset, whence), start);
}

int tfd_wrap_fseeko(FILE *stream, off_t offset, int whence)
{
    uint64_t start = begin_stream_call(stream);
    return record_stream_seek(stream, TFD_NEXT(fseeko)(stream, offset, whence), start);
}

int tfd_wrap_fseeko64(FILE *stream, off64_t offset, int whence)
{
    uint64_t start = begin_stream_call(stream);
    return record_stream_seek(stream, TFD_NEXT(fseeko64)(stream, offset, whence), start);
}

int tfd_wrap_fsetpos(FILE *stream, const fpos_t *position)
{
    uint64_t start = begin_stream_call(stream);
    return record_stream_seek(stream, TFD_NEXT(fsetpos)(stream, position), start);
}

int tfd_wrap_fsetpos64(FILE *stream, const fpos64_t *position)
{
    uint64_t start = begin_stream_call(stream);
    return record_stream_seek(stream, TFD_NEXT(fsetpos64)(stream, position), start);
}

void tfd_wrap_rewind(FILE *stream)
{
    uint64_t start = begin_stream_call(stream);
    TFD_NEXT(rewind)(stream);
    record_stream_seek(stream, 0, start);
}

int tfd_wrap_fflush(FILE *stream)
{
    return counted_fflush(TFD_NEXT(fflush), stream);
}

int tfd_wrap_fflush_unlocked(FILE *stream)
{
    return counted_fflush(TFD_NEXT(fflush_unlocked), stream);
}
