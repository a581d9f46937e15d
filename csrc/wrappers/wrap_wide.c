/* Wrappers of wide STDIO. What is counted are the bytes of the characters, not the characters. */
#define _GNU_SOURCE
#include "wrappers/wrap_wide_calls.h"
#include "wrappers/wrappers.h"

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

wchar_t *tfd_wrap_fgetws(wchar_t *buffer, int size, FILE *stream)
{
    return counted_fgetws(TFD_NEXT(fgetws), buffer, size, stream);
}

wchar_t *tfd_wrap_fgetws_unlocked(wchar_t *buffer, int size, FILE *stream)
{
    return counted_fgetws(TFD_NEXT(fgetws_unlocked), buffer, size, stream);
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
        record_given_back(stream, bytes_of_character((wchar_t)character));
    return given_back;
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

int tfd_wrap_fputws(const wchar_t *text, FILE *stream)
{
    return counted_fputws(TFD_NEXT(fputws), text, stream);
}

int tfd_wrap_fputws_unlocked(const wchar_t *text, FILE *stream)
{
    return counted_fputws(TFD_NEXT(fputws_unlocked), text, stream);
}

int tfd_wrap_vfwprintf(FILE *stream, const wchar_t *format, va_list arguments)
{
    return counted_vfwprintf(TFD_NEXT(vfwprintf), stream, format, arguments);
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
