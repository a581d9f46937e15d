/* Calls that read from a stream. */
#define _GNU_SOURCE
#include "probe/probe_files.h"

#include <stdarg.h>
#include <string.h>

static bool is_line(const char *text)
{
    return !strcmp(text, TFD_PROBE_LINE);
}

static int scan(int (*function)(FILE *, const char *, va_list), FILE *stream, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = function(stream, format, arguments);
    va_end(arguments);
    return result;
}

static bool probe_fread(struct probe_files *files)
{
    return call_fread(files->buffer, 10, 4, files->stream) == 4;
}

static bool probe_fread_unlocked(struct probe_files *files)
{
    return call_fread_unlocked(files->buffer, 10, 4, files->stream) == 4;
}

static bool probe___fread_chk(struct probe_files *files)
{
    return call___fread_chk(files->buffer, sizeof files->buffer, 10, 4, files->stream) == 4;
}

static bool probe___fread_unlocked_chk(struct probe_files *files)
{
    return call___fread_unlocked_chk(files->buffer, sizeof files->buffer, 10, 4, files->stream) == 4;
}

static bool probe_fgets(struct probe_files *files)
{
    return call_fgets(files->buffer, 50, files->stream) && is_line(files->buffer);
}

static bool probe_fgets_unlocked(struct probe_files *files)
{
    return call_fgets_unlocked(files->buffer, 50, files->stream) && is_line(files->buffer);
}

static bool probe___fgets_chk(struct probe_files *files)
{
    return call___fgets_chk(files->buffer, sizeof files->buffer, 50, files->stream) && is_line(files->buffer);
}

static bool probe___fgets_unlocked_chk(struct probe_files *files)
{
    return call___fgets_unlocked_chk(files->buffer, sizeof files->buffer, 50, files->stream) &&
           is_line(files->buffer);
}

static bool probe_fgetc(struct probe_files *files)
{
    return call_fgetc(files->stream) == '1';
}

static bool probe_getc(struct probe_files *files)
{
    return call_getc(files->stream) == '1';
}

static bool probe__IO_getc(struct probe_files *files)
{
    return call__IO_getc(files->stream) == '1';
}

static bool probe_fgetc_unlocked(struct probe_files *files)
{
    return call_fgetc_unlocked(files->stream) == '1';
}

static bool probe_getc_unlocked(struct probe_files *files)
{
    return call_getc_unlocked(files->stream) == '1';
}

static bool probe_getw(struct probe_files *files)
{
    int word = call_getw(files->stream);
    return !memcmp(&word, TFD_PROBE_LINE, sizeof word);
}

static bool probe_getline(struct probe_files *files)
{
    return call_getline(&files->line, &files->line_capacity, files->stream) == TFD_PROBE_LINE_BYTES &&
           is_line(files->line);
}

static bool probe_getdelim(struct probe_files *files)
{
    return call_getdelim(&files->line, &files->line_capacity, ' ', files->stream) == 6;
}

static bool probe___getdelim(struct probe_files *files)
{
    return call___getdelim(&files->line, &files->line_capacity, ' ', files->stream) == 6;
}

static bool probe_ungetc(struct probe_files *files)
{
    return call_ungetc('x', files->stream) == 'x';
}

static bool probe_fscanf(struct probe_files *files)
{
    int number = 0;
    return call_fscanf(files->stream, "%d", &number) == 1 && number == 12345;
}

static bool probe___isoc99_fscanf(struct probe_files *files)
{
    int number = 0;
    return call___isoc99_fscanf(files->stream, "%d", &number) == 1 && number == 12345;
}

static bool probe___isoc23_fscanf(struct probe_files *files)
{
    int number = 0;
    return call___isoc23_fscanf(files->stream, "%d", &number) == 1 && number == 12345;
}

static bool probe_vfscanf(struct probe_files *files)
{
    int number = 0;
    return scan(call_vfscanf, files->stream, "%d", &number) == 1 && number == 12345;
}

static bool probe___isoc99_vfscanf(struct probe_files *files)
{
    int number = 0;
    return scan(call___isoc99_vfscanf, files->stream, "%d", &number) == 1 && number == 12345;
}

static bool probe___isoc23_vfscanf(struct probe_files *files)
{
    int number = 0;
    return scan(call___isoc23_vfscanf, files->stream, "%d", &number) == 1 && number == 12345;
}

const struct probe tfd_stream_read_probes[] = {
    {"fread", (void *)call_fread, probe_fread, {{"fread", TFD_PROBE_ANY, 40, 0}}},
    {"fread_unlocked", (void *)call_fread_unlocked, probe_fread_unlocked, {{"fread", TFD_PROBE_ANY, 40, 0}}},
    {"__fread_chk", (void *)call___fread_chk, probe___fread_chk, {{"fread", TFD_PROBE_ANY, 40, 0}}},
    {"__fread_unlocked_chk",
     (void *)call___fread_unlocked_chk,
     probe___fread_unlocked_chk,
     {{"fread", TFD_PROBE_ANY, 40, 0}}},
    {"fgets", (void *)call_fgets, probe_fgets, {{"fread", TFD_PROBE_ANY, TFD_PROBE_LINE_BYTES, 0}}},
    {"fgets_unlocked",
     (void *)call_fgets_unlocked,
     probe_fgets_unlocked,
     {{"fread", TFD_PROBE_ANY, TFD_PROBE_LINE_BYTES, 0}}},
    {"__fgets_chk",
     (void *)call___fgets_chk,
     probe___fgets_chk,
     {{"fread", TFD_PROBE_ANY, TFD_PROBE_LINE_BYTES, 0}}},
    {"__fgets_unlocked_chk",
     (void *)call___fgets_unlocked_chk,
     probe___fgets_unlocked_chk,
     {{"fread", TFD_PROBE_ANY, TFD_PROBE_LINE_BYTES, 0}}},
    {"fgetc", (void *)call_fgetc, probe_fgetc, {{"fread", TFD_PROBE_ANY, 1, 0}}},
    {"getc", (void *)call_getc, probe_getc, {{"fread", TFD_PROBE_ANY, 1, 0}}},
    {"_IO_getc", (void *)call__IO_getc, probe__IO_getc, {{"fread", TFD_PROBE_ANY, 1, 0}}},
    {"fgetc_unlocked", (void *)call_fgetc_unlocked, probe_fgetc_unlocked, {{"fread", TFD_PROBE_ANY, 1, 0}}},
    {"getc_unlocked", (void *)call_getc_unlocked, probe_getc_unlocked, {{"fread", TFD_PROBE_ANY, 1, 0}}},
    {"getw", (void *)call_getw, probe_getw, {{"fread", TFD_PROBE_ANY, 4, 0}}},
    {"getline", (void *)call_getline, probe_getline, {{"fread", TFD_PROBE_ANY, TFD_PROBE_LINE_BYTES, 0}}},
    {"getdelim", (void *)call_getdelim, probe_getdelim, {{"fread", TFD_PROBE_ANY, 6, 0}}},
    {"__getdelim", (void *)call___getdelim, probe___getdelim, {{"fread", TFD_PROBE_ANY, 6, 0}}},
    {"ungetc", (void *)call_ungetc, probe_ungetc, {{0}}},
    {"fscanf", (void *)call_fscanf, probe_fscanf, {{"fread", TFD_PROBE_ANY, 5, 0}}},
    {"__isoc99_fscanf",
     (void *)call___isoc99_fscanf,
     probe___isoc99_fscanf,
     {{"fread", TFD_PROBE_ANY, 5, 0}}},
    {"__isoc23_fscanf",
     (void *)call___isoc23_fscanf,
     probe___isoc23_fscanf,
     {{"fread", TFD_PROBE_ANY, 5, 0}}},
    {"vfscanf", (void *)call_vfscanf, probe_vfscanf, {{"fread", TFD_PROBE_ANY, 5, 0}}},
    {"__isoc99_vfscanf",
     (void *)call___isoc99_vfscanf,
     probe___isoc99_vfscanf,
     {{"fread", TFD_PROBE_ANY, 5, 0}}},
    {"__isoc23_vfscanf",
     (void *)call___isoc23_vfscanf,
     probe___isoc23_vfscanf,
     {{"fread", TFD_PROBE_ANY, 5, 0}}},
    {0},
};
