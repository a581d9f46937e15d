/* Calls on streams of wide characters. */
#define _GNU_SOURCE
#include "probe/probe_files.h"

#include <stdarg.h>
#include <wchar.h>

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

static bool is_line(const wchar_t *text)
{
    return !wcscmp(text, L"" TFD_PROBE_LINE);
}

static int pass(int (*function)(const wchar_t *, va_list), const wchar_t *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = function(format, arguments);
    va_end(arguments);
    return result;
}

static int pass_stream(int (*function)(FILE *, const wchar_t *, va_list), FILE *stream, const wchar_t *format,
                       ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = function(stream, format, arguments);
    va_end(arguments);
    return result;
}

static int pass_checked(int (*function)(FILE *, int, const wchar_t *, va_list), FILE *stream,
                        const wchar_t *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = function(stream, 1, format, arguments);
    va_end(arguments);
    return result;
}

static int pass_out_checked(int (*function)(int, const wchar_t *, va_list), const wchar_t *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = function(1, format, arguments);
    va_end(arguments);
    return result;
}

static bool probe_fgetwc(struct probe_files *files)
{
    return call_fgetwc(files->stream) == L'1';
}

static bool probe_getwc(struct probe_files *files)
{
    return call_getwc(files->stream) == L'1';
}

static bool probe_fgetwc_unlocked(struct probe_files *files)
{
    return call_fgetwc_unlocked(files->stream) == L'1';
}

static bool probe_getwc_unlocked(struct probe_files *files)
{
    return call_getwc_unlocked(files->stream) == L'1';
}

static bool probe_getwchar(struct probe_files *files)
{
    FILE *old = put_in(files);
    wint_t got = call_getwchar();
    stdin = old;
    return got == L'1';
}

static bool probe_getwchar_unlocked(struct probe_files *files)
{
    FILE *old = put_in(files);
    wint_t got = call_getwchar_unlocked();
    stdin = old;
    return got == L'1';
}

static bool probe_fgetws(struct probe_files *files)
{
    wchar_t line[50];
    return call_fgetws(line, 50, files->stream) && is_line(line);
}

static bool probe_fgetws_unlocked(struct probe_files *files)
{
    wchar_t line[50];
    return call_fgetws_unlocked(line, 50, files->stream) && is_line(line);
}

static bool probe___fgetws_chk(struct probe_files *files)
{
    wchar_t line[50];
    return call___fgetws_chk(line, 50, 50, files->stream) && is_line(line);
}

static bool probe___fgetws_unlocked_chk(struct probe_files *files)
{
    wchar_t line[50];
    return call___fgetws_unlocked_chk(line, 50, 50, files->stream) && is_line(line);
}

static bool probe_ungetwc(struct probe_files *files)
{
    return call_ungetwc(L'x', files->stream) == L'x';
}

static bool probe_fwscanf(struct probe_files *files)
{
    int number = 0;
    return call_fwscanf(files->stream, L"%d", &number) == 1 && number == 12345;
}

static bool probe_vfwscanf(struct probe_files *files)
{
    int number = 0;
    return pass_stream(call_vfwscanf, files->stream, L"%d", &number) == 1 && number == 12345;
}

static bool probe_wscanf(struct probe_files *files)
{
    int number = 0;
    FILE *old = put_in(files);
    int got = call_wscanf(L"%d", &number);
    stdin = old;
    return got == 1 && number == 12345;
}

static bool probe_vwscanf(struct probe_files *files)
{
    int number = 0;
    FILE *old = put_in(files);
    int got = pass(call_vwscanf, L"%d", &number);
    stdin = old;
    return got == 1 && number == 12345;
}

static bool probe___isoc99_fwscanf(struct probe_files *files)
{
    int number = 0;
    return call___isoc99_fwscanf(files->stream, L"%d", &number) == 1 && number == 12345;
}

static bool probe___isoc99_vfwscanf(struct probe_files *files)
{
    int number = 0;
    return pass_stream(call___isoc99_vfwscanf, files->stream, L"%d", &number) == 1 && number == 12345;
}

static bool probe___isoc99_wscanf(struct probe_files *files)
{
    int number = 0;
    FILE *old = put_in(files);
    int got = call___isoc99_wscanf(L"%d", &number);
    stdin = old;
    return got == 1 && number == 12345;
}

static bool probe___isoc99_vwscanf(struct probe_files *files)
{
    int number = 0;
    FILE *old = put_in(files);
    int got = pass(call___isoc99_vwscanf, L"%d", &number);
    stdin = old;
    return got == 1 && number == 12345;
}

static bool probe___isoc23_fwscanf(struct probe_files *files)
{
    int number = 0;
    return call___isoc23_fwscanf(files->stream, L"%d", &number) == 1 && number == 12345;
}

static bool probe___isoc23_vfwscanf(struct probe_files *files)
{
    int number = 0;
    return pass_stream(call___isoc23_vfwscanf, files->stream, L"%d", &number) == 1 && number == 12345;
}

static bool probe___isoc23_wscanf(struct probe_files *files)
{
    int number = 0;
    FILE *old = put_in(files);
    int got = call___isoc23_wscanf(L"%d", &number);
    stdin = old;
    return got == 1 && number == 12345;
}

static bool probe___isoc23_vwscanf(struct probe_files *files)
{
    int number = 0;
    FILE *old = put_in(files);
    int got = pass(call___isoc23_vwscanf, L"%d", &number);
    stdin = old;
    return got == 1 && number == 12345;
}

static bool probe_fputwc(struct probe_files *files)
{
    return call_fputwc(L'x', files->stream) == L'x';
}

static bool probe_putwc(struct probe_files *files)
{
    return call_putwc(L'x', files->stream) == L'x';
}

static bool probe_fputwc_unlocked(struct probe_files *files)
{
    return call_fputwc_unlocked(L'x', files->stream) == L'x';
}

static bool probe_putwc_unlocked(struct probe_files *files)
{
    return call_putwc_unlocked(L'x', files->stream) == L'x';
}

static bool probe_putwchar(struct probe_files *files)
{
    FILE *old = put_out(files);
    wint_t put = call_putwchar(L'x');
    stdout = old;
    return put == L'x';
}

static bool probe_putwchar_unlocked(struct probe_files *files)
{
    FILE *old = put_out(files);
    wint_t put = call_putwchar_unlocked(L'x');
    stdout = old;
    return put == L'x';
}

static bool probe_fputws(struct probe_files *files)
{
    return call_fputws(L"apples\n", files->stream) >= 0;
}

static bool probe_fputws_unlocked(struct probe_files *files)
{
    return call_fputws_unlocked(L"apples\n", files->stream) >= 0;
}

static bool probe_fwprintf(struct probe_files *files)
{
    return call_fwprintf(files->stream, L"%d %s", 12, "apples") == 9;
}

static bool probe_vfwprintf(struct probe_files *files)
{
    return pass_stream(call_vfwprintf, files->stream, L"%d %s", 12, "apples") == 9;
}

static bool probe_wprintf(struct probe_files *files)
{
    FILE *old = put_out(files);
    int put = call_wprintf(L"%d %s", 12, "apples");
    stdout = old;
    return put == 9;
}

static bool probe_vwprintf(struct probe_files *files)
{
    FILE *old = put_out(files);
    int put = pass(call_vwprintf, L"%d %s", 12, "apples");
    stdout = old;
    return put == 9;
}

static bool probe___fwprintf_chk(struct probe_files *files)
{
    return call___fwprintf_chk(files->stream, 1, L"%d %s", 12, "apples") == 9;
}

static bool probe___vfwprintf_chk(struct probe_files *files)
{
    return pass_checked(call___vfwprintf_chk, files->stream, L"%d %s", 12, "apples") == 9;
}

static bool probe___wprintf_chk(struct probe_files *files)
{
    FILE *old = put_out(files);
    int put = call___wprintf_chk(1, L"%d %s", 12, "apples");
    stdout = old;
    return put == 9;
}

static bool probe___vwprintf_chk(struct probe_files *files)
{
    FILE *old = put_out(files);
    int put = pass_out_checked(call___vwprintf_chk, L"%d %s", 12, "apples");
    stdout = old;
    return put == 9;
}

const struct probe tfd_wide_probes[] = {
    {"fgetwc", (void *)call_fgetwc, probe_fgetwc, {{"fread", TFD_PROBE_ANY, 1, 0}}},
    {"getwc", (void *)call_getwc, probe_getwc, {{"fread", TFD_PROBE_ANY, 1, 0}}},
    {"fgetwc_unlocked",
     (void *)call_fgetwc_unlocked,
     probe_fgetwc_unlocked,
     {{"fread", TFD_PROBE_ANY, 1, 0}}},
    {"getwc_unlocked", (void *)call_getwc_unlocked, probe_getwc_unlocked, {{"fread", TFD_PROBE_ANY, 1, 0}}},
    {"getwchar", (void *)call_getwchar, probe_getwchar, {{"fread", TFD_PROBE_ANY, 1, 0}}},
    {"getwchar_unlocked",
     (void *)call_getwchar_unlocked,
     probe_getwchar_unlocked,
     {{"fread", TFD_PROBE_ANY, 1, 0}}},
    {"fgetws", (void *)call_fgetws, probe_fgetws, {{"fread", TFD_PROBE_ANY, TFD_PROBE_LINE_BYTES, 0}}},
    {"fgetws_unlocked",
     (void *)call_fgetws_unlocked,
     probe_fgetws_unlocked,
     {{"fread", TFD_PROBE_ANY, TFD_PROBE_LINE_BYTES, 0}}},
    {"__fgetws_chk",
     (void *)call___fgetws_chk,
     probe___fgetws_chk,
     {{"fread", TFD_PROBE_ANY, TFD_PROBE_LINE_BYTES, 0}}},
    {"__fgetws_unlocked_chk",
     (void *)call___fgetws_unlocked_chk,
     probe___fgetws_unlocked_chk,
     {{"fread", TFD_PROBE_ANY, TFD_PROBE_LINE_BYTES, 0}}},
    {"ungetwc", (void *)call_ungetwc, probe_ungetwc, {{0}}},
    {"fwscanf", (void *)call_fwscanf, probe_fwscanf, {{"fread", TFD_PROBE_ANY, 5, 0}}},
    {"vfwscanf", (void *)call_vfwscanf, probe_vfwscanf, {{"fread", TFD_PROBE_ANY, 5, 0}}},
    {"wscanf", (void *)call_wscanf, probe_wscanf, {{"fread", TFD_PROBE_ANY, 5, 0}}},
    {"vwscanf", (void *)call_vwscanf, probe_vwscanf, {{"fread", TFD_PROBE_ANY, 5, 0}}},
    {"__isoc99_fwscanf",
     (void *)call___isoc99_fwscanf,
     probe___isoc99_fwscanf,
     {{"fread", TFD_PROBE_ANY, 5, 0}}},
    {"__isoc99_vfwscanf",
     (void *)call___isoc99_vfwscanf,
     probe___isoc99_vfwscanf,
     {{"fread", TFD_PROBE_ANY, 5, 0}}},
    {"__isoc99_wscanf",
     (void *)call___isoc99_wscanf,
     probe___isoc99_wscanf,
     {{"fread", TFD_PROBE_ANY, 5, 0}}},
    {"__isoc99_vwscanf",
     (void *)call___isoc99_vwscanf,
     probe___isoc99_vwscanf,
     {{"fread", TFD_PROBE_ANY, 5, 0}}},
    {"__isoc23_fwscanf",
     (void *)call___isoc23_fwscanf,
     probe___isoc23_fwscanf,
     {{"fread", TFD_PROBE_ANY, 5, 0}}},
    {"__isoc23_vfwscanf",
     (void *)call___isoc23_vfwscanf,
     probe___isoc23_vfwscanf,
     {{"fread", TFD_PROBE_ANY, 5, 0}}},
    {"__isoc23_wscanf",
     (void *)call___isoc23_wscanf,
     probe___isoc23_wscanf,
     {{"fread", TFD_PROBE_ANY, 5, 0}}},
    {"__isoc23_vwscanf",
     (void *)call___isoc23_vwscanf,
     probe___isoc23_vwscanf,
     {{"fread", TFD_PROBE_ANY, 5, 0}}},
    {"fputwc", (void *)call_fputwc, probe_fputwc, {{"fwrite", TFD_PROBE_ANY, 1, 0}}},
    {"putwc", (void *)call_putwc, probe_putwc, {{"fwrite", TFD_PROBE_ANY, 1, 0}}},
    {"fputwc_unlocked",
     (void *)call_fputwc_unlocked,
     probe_fputwc_unlocked,
     {{"fwrite", TFD_PROBE_ANY, 1, 0}}},
    {"putwc_unlocked", (void *)call_putwc_unlocked, probe_putwc_unlocked, {{"fwrite", TFD_PROBE_ANY, 1, 0}}},
    {"putwchar", (void *)call_putwchar, probe_putwchar, {{"fwrite", TFD_PROBE_ANY, 1, 0}}},
    {"putwchar_unlocked",
     (void *)call_putwchar_unlocked,
     probe_putwchar_unlocked,
     {{"fwrite", TFD_PROBE_ANY, 1, 0}}},
    {"fputws", (void *)call_fputws, probe_fputws, {{"fwrite", TFD_PROBE_ANY, 7, 0}}},
    {"fputws_unlocked",
     (void *)call_fputws_unlocked,
     probe_fputws_unlocked,
     {{"fwrite", TFD_PROBE_ANY, 7, 0}}},
    {"fwprintf", (void *)call_fwprintf, probe_fwprintf, {{"fwrite", TFD_PROBE_ANY, 9, 0}}},
    {"vfwprintf", (void *)call_vfwprintf, probe_vfwprintf, {{"fwrite", TFD_PROBE_ANY, 9, 0}}},
    {"wprintf", (void *)call_wprintf, probe_wprintf, {{"fwrite", TFD_PROBE_ANY, 9, 0}}},
    {"vwprintf", (void *)call_vwprintf, probe_vwprintf, {{"fwrite", TFD_PROBE_ANY, 9, 0}}},
    {"__fwprintf_chk", (void *)call___fwprintf_chk, probe___fwprintf_chk, {{"fwrite", TFD_PROBE_ANY, 9, 0}}},
    {"__vfwprintf_chk",
     (void *)call___vfwprintf_chk,
     probe___vfwprintf_chk,
     {{"fwrite", TFD_PROBE_ANY, 9, 0}}},
    {"__wprintf_chk", (void *)call___wprintf_chk, probe___wprintf_chk, {{"fwrite", TFD_PROBE_ANY, 9, 0}}},
    {"__vwprintf_chk", (void *)call___vwprintf_chk, probe___vwprintf_chk, {{"fwrite", TFD_PROBE_ANY, 9, 0}}},
    {0},
};
