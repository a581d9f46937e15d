/* Calls on standard input and output, and those that compiled-in code makes. */
#define _GNU_SOURCE
#include "probe/probe_files.h"

#include <stdarg.h>
#include <string.h>

static FILE *put_in(const struct probe_files *files)
{
    FILE *old = stdin;
    stdin = files->stream;
    return old;
}

static FILE *put_out(const struct probe_files *files)
{
    FILE *old = stdout;
    stdout = files->stream;
    return old;
}

static int pass(int (*function)(const char *, va_list), const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = function(format, arguments);
    va_end(arguments);
    return result;
}

static bool probe_getchar(struct probe_files *files)
{
    FILE *old = put_in(files);
    int got = call_getchar();
    stdin = old;
    return got == '1';
}

static bool probe_getchar_unlocked(struct probe_files *files)
{
    FILE *old = put_in(files);
    int got = call_getchar_unlocked();
    stdin = old;
    return got == '1';
}

static bool probe_gets(struct probe_files *files)
{
    FILE *old = put_in(files);
    char *got = call_gets(files->buffer);
    stdin = old;
    return got && !strcmp(got, "12345 apples");
}

static bool probe___gets_chk(struct probe_files *files)
{
    FILE *old = put_in(files);
    char *got = call___gets_chk(files->buffer, sizeof files->buffer);
    stdin = old;
    return got && !strcmp(got, "12345 apples");
}

static bool probe_scanf(struct probe_files *files)
{
    int number = 0;
    FILE *old = put_in(files);
    int got = call_scanf("%d", &number);
    stdin = old;
    return got == 1 && number == 12345;
}

static bool probe_vscanf(struct probe_files *files)
{
    int number = 0;
    FILE *old = put_in(files);
    int got = pass(call_vscanf, "%d", &number);
    stdin = old;
    return got == 1 && number == 12345;
}

static bool probe___isoc99_scanf(struct probe_files *files)
{
    int number = 0;
    FILE *old = put_in(files);
    int got = call___isoc99_scanf("%d", &number);
    stdin = old;
    return got == 1 && number == 12345;
}

static bool probe___isoc99_vscanf(struct probe_files *files)
{
    int number = 0;
    FILE *old = put_in(files);
    int got = pass(call___isoc99_vscanf, "%d", &number);
    stdin = old;
    return got == 1 && number == 12345;
}

static bool probe___isoc23_scanf(struct probe_files *files)
{
    int number = 0;
    FILE *old = put_in(files);
    int got = call___isoc23_scanf("%d", &number);
    stdin = old;
    return got == 1 && number == 12345;
}

static bool probe___isoc23_vscanf(struct probe_files *files)
{
    int number = 0;
    FILE *old = put_in(files);
    int got = pass(call___isoc23_vscanf, "%d", &number);
    stdin = old;
    return got == 1 && number == 12345;
}

static bool probe___uflow(struct probe_files *files)
{
    return call___uflow(files->stream) == '1';
}

static bool probe___overflow(struct probe_files *files)
{
    return call___overflow(files->stream, 'x') == 'x';
}

static bool probe_putchar_unlocked(struct probe_files *files)
{
    FILE *old = put_out(files);
    int put = call_putchar_unlocked('x');
    stdout = old;
    return put == 'x';
}

const struct probe tfd_standard_probes[] = {
    {"getchar", (void *)call_getchar, probe_getchar, {{"fread", TFD_PROBE_ANY, 1, 0}}},
    {"getchar_unlocked",
     (void *)call_getchar_unlocked,
     probe_getchar_unlocked,
     {{"fread", TFD_PROBE_ANY, 1, 0}}},
    {"gets", (void *)call_gets, probe_gets, {{"fread", TFD_PROBE_ANY, TFD_PROBE_LINE_BYTES, 0}}},
    {"__gets_chk",
     (void *)call___gets_chk,
     probe___gets_chk,
     {{"fread", TFD_PROBE_ANY, TFD_PROBE_LINE_BYTES, 0}}},
    {"scanf", (void *)call_scanf, probe_scanf, {{"fread", TFD_PROBE_ANY, 5, 0}}},
    {"vscanf", (void *)call_vscanf, probe_vscanf, {{"fread", TFD_PROBE_ANY, 5, 0}}},
    {"__isoc99_scanf", (void *)call___isoc99_scanf, probe___isoc99_scanf, {{"fread", TFD_PROBE_ANY, 5, 0}}},
    {"__isoc99_vscanf",
     (void *)call___isoc99_vscanf,
     probe___isoc99_vscanf,
     {{"fread", TFD_PROBE_ANY, 5, 0}}},
    {"__isoc23_scanf", (void *)call___isoc23_scanf, probe___isoc23_scanf, {{"fread", TFD_PROBE_ANY, 5, 0}}},
    {"__isoc23_vscanf",
     (void *)call___isoc23_vscanf,
     probe___isoc23_vscanf,
     {{"fread", TFD_PROBE_ANY, 5, 0}}},
    {"__uflow", (void *)call___uflow, probe___uflow, {{"fread", TFD_PROBE_ANY, 1, 0}}},
    {"__overflow", (void *)call___overflow, probe___overflow, {{"fwrite", TFD_PROBE_ANY, 1, 0}}},
    {"putchar_unlocked",
     (void *)call_putchar_unlocked,
     probe_putchar_unlocked,
     {{"fwrite", TFD_PROBE_ANY, 1, 0}}},
    {0},
};
