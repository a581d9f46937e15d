/* Calls that write to a stream. */
#define _GNU_SOURCE
#include "probe/probe_files.h"

#include <stdarg.h>

/* puts, printf and others find their stream in a variable. */
static FILE *redirect(const struct probe_files *files)
{
    FILE *old = stdout;
    stdout = files->stream;
    return old;
}

static int print(int (*function)(FILE *, const char *, va_list), FILE *stream, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = function(stream, format, arguments);
    va_end(arguments);
    return result;
}

static int print_checked(int (*function)(FILE *, int, const char *, va_list), FILE *stream,
                         const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = function(stream, 1, format, arguments);
    va_end(arguments);
    return result;
}

static int print_out(int (*function)(const char *, va_list), const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = function(format, arguments);
    va_end(arguments);
    return result;
}

static int print_out_checked(int (*function)(int, const char *, va_list), const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = function(1, format, arguments);
    va_end(arguments);
    return result;
}

static bool probe_fwrite(struct probe_files *files)
{
    return call_fwrite(files->buffer, 10, 4, files->stream) == 4;
}

static bool probe_fwrite_unlocked(struct probe_files *files)
{
    return call_fwrite_unlocked(files->buffer, 10, 4, files->stream) == 4;
}

static bool probe_fputs(struct probe_files *files)
{
    return call_fputs("apples\n", files->stream) >= 0;
}

static bool probe_fputs_unlocked(struct probe_files *files)
{
    return call_fputs_unlocked("apples\n", files->stream) >= 0;
}

static bool probe_fputc(struct probe_files *files)
{
    return call_fputc('x', files->stream) == 'x';
}

static bool probe_putc(struct probe_files *files)
{
    return call_putc('x', files->stream) == 'x';
}

static bool probe__IO_putc(struct probe_files *files)
{
    return call__IO_putc('x', files->stream) == 'x';
}

static bool probe_fputc_unlocked(struct probe_files *files)
{
    return call_fputc_unlocked('x', files->stream) == 'x';
}

static bool probe_putc_unlocked(struct probe_files *files)
{
    return call_putc_unlocked('x', files->stream) == 'x';
}

static bool probe_putw(struct probe_files *files)
{
    return call_putw(0x12345678, files->stream) == 0;
}

static bool probe_puts(struct probe_files *files)
{
    FILE *old = redirect(files);
    int status = call_puts("apples");
    stdout = old;
    return status >= 0;
}

static bool probe_putchar(struct probe_files *files)
{
    FILE *old = redirect(files);
    int written = call_putchar('x');
    stdout = old;
    return written == 'x';
}

static bool probe_fprintf(struct probe_files *files)
{
    return call_fprintf(files->stream, "%d %s", 12, "apples") == 9;
}

static bool probe_vfprintf(struct probe_files *files)
{
    return print(call_vfprintf, files->stream, "%d %s", 12, "apples") == 9;
}

static bool probe___fprintf_chk(struct probe_files *files)
{
    return call___fprintf_chk(files->stream, 1, "%d %s", 12, "apples") == 9;
}

static bool probe___vfprintf_chk(struct probe_files *files)
{
    return print_checked(call___vfprintf_chk, files->stream, "%d %s", 12, "apples") == 9;
}

static bool probe_printf(struct probe_files *files)
{
    FILE *old = redirect(files);
    int written = call_printf("%d %s", 12, "apples");
    stdout = old;
    return written == 9;
}

static bool probe_vprintf(struct probe_files *files)
{
    FILE *old = redirect(files);
    int written = print_out(call_vprintf, "%d %s", 12, "apples");
    stdout = old;
    return written == 9;
}

static bool probe___printf_chk(struct probe_files *files)
{
    FILE *old = redirect(files);
    int written = call___printf_chk(1, "%d %s", 12, "apples");
    stdout = old;
    return written == 9;
}

static bool probe___vprintf_chk(struct probe_files *files)
{
    FILE *old = redirect(files);
    int written = print_out_checked(call___vprintf_chk, "%d %s", 12, "apples");
    stdout = old;
    return written == 9;
}

const struct probe tfd_stream_write_probes[] = {
    {"fwrite", (void *)call_fwrite, probe_fwrite, {{"fwrite", TFD_PROBE_ANY, 40, 0}}},
    {"fwrite_unlocked",
     (void *)call_fwrite_unlocked,
     probe_fwrite_unlocked,
     {{"fwrite", TFD_PROBE_ANY, 40, 0}}},
    {"fputs", (void *)call_fputs, probe_fputs, {{"fwrite", TFD_PROBE_ANY, 7, 0}}},
    {"fputs_unlocked", (void *)call_fputs_unlocked, probe_fputs_unlocked, {{"fwrite", TFD_PROBE_ANY, 7, 0}}},
    {"fputc", (void *)call_fputc, probe_fputc, {{"fwrite", TFD_PROBE_ANY, 1, 0}}},
    {"putc", (void *)call_putc, probe_putc, {{"fwrite", TFD_PROBE_ANY, 1, 0}}},
    {"_IO_putc", (void *)call__IO_putc, probe__IO_putc, {{"fwrite", TFD_PROBE_ANY, 1, 0}}},
    {"fputc_unlocked", (void *)call_fputc_unlocked, probe_fputc_unlocked, {{"fwrite", TFD_PROBE_ANY, 1, 0}}},
    {"putc_unlocked", (void *)call_putc_unlocked, probe_putc_unlocked, {{"fwrite", TFD_PROBE_ANY, 1, 0}}},
    {"putw", (void *)call_putw, probe_putw, {{"fwrite", TFD_PROBE_ANY, 4, 0}}},
    {"puts", (void *)call_puts, probe_puts, {{"fwrite", TFD_PROBE_ANY, 7, 0}}},
    {"putchar", (void *)call_putchar, probe_putchar, {{"fwrite", TFD_PROBE_ANY, 1, 0}}},
    {"fprintf", (void *)call_fprintf, probe_fprintf, {{"fwrite", TFD_PROBE_ANY, 9, 0}}},
    {"vfprintf", (void *)call_vfprintf, probe_vfprintf, {{"fwrite", TFD_PROBE_ANY, 9, 0}}},
    {"__fprintf_chk", (void *)call___fprintf_chk, probe___fprintf_chk, {{"fwrite", TFD_PROBE_ANY, 9, 0}}},
    {"__vfprintf_chk", (void *)call___vfprintf_chk, probe___vfprintf_chk, {{"fwrite", TFD_PROBE_ANY, 9, 0}}},
    {"printf", (void *)call_printf, probe_printf, {{"fwrite", TFD_PROBE_ANY, 9, 0}}},
    {"vprintf", (void *)call_vprintf, probe_vprintf, {{"fwrite", TFD_PROBE_ANY, 9, 0}}},
    {"__printf_chk", (void *)call___printf_chk, probe___printf_chk, {{"fwrite", TFD_PROBE_ANY, 9, 0}}},
    {"__vprintf_chk", (void *)call___vprintf_chk, probe___vprintf_chk, {{"fwrite", TFD_PROBE_ANY, 9, 0}}},
    {0},
};
