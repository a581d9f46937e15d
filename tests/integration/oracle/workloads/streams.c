/* C streams, each file written and read whole by one family of calls. */
#define _GNU_SOURCE
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

enum { LINES = 2000 };

static FILE *open_in(const char *directory, const char *name, const char *mode)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return fopen(path, mode);
}

static int print_with(FILE *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int printed = vfprintf(file, format, arguments);
    va_end(arguments);
    return printed;
}

static int use_blocks(const char *directory)
{
    char block[1000] = {0};
    FILE *file = open_in(directory, "blocks", "w");
    for (int i = 0; i < 50; i++)
        fwrite(block, 1, 100 + i, file);
    fwrite_unlocked(block, 10, 7, file);
    fclose(file);
    file = open_in(directory, "blocks", "r");
    size_t total = fread_unlocked(block, 1, 100, file), got;
    while ((got = fread(block, 1, 333, file)) > 0)
        total += got;
    fclose(file);
    return total == 50 * 100 + 49 * 25 + 70;
}

static int use_lines(const char *directory)
{
    char text[100];
    FILE *file = open_in(directory, "lines", "w");
    for (int i = 0; i < LINES; i++) {
        snprintf(text, sizeof text, "a line, %*s", i % 50, "");
        fputs(text, file); /* of no known length, or the compiler makes it an fwrite */
        fprintf(file, "number %d", i);
        print_with(file, " and %s", "more");
        putc('\n', file);
    }
    fclose(file);
    file = open_in(directory, "lines", "r");
    int count = 0;
    while (count < LINES / 2 && fgets(text, sizeof text, file))
        count++;
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, file) > 0)
        count++;
    free(line);
    fclose(file);
    return count == LINES;
}

/* Through pointers, or the compiler puts its own copy of some of these here. */
static int use_characters(const char *directory)
{
    int (*volatile put[])(int, FILE *) = {fputc, putc, fputc_unlocked, putc_unlocked};
    int (*volatile get[])(FILE *) = {fgetc, getc, fgetc_unlocked, getc_unlocked};
    FILE *file = open_in(directory, "characters", "w");
    for (int i = 0; i < 8000; i++)
        put[i % 4]('a', file);
    fclose(file);
    file = open_in(directory, "characters", "r");
    int count = 0;
    while (get[count % 4](file) != EOF)
        count++;
    fclose(file);
    return count == 8000;
}

static int use_inlined(const char *directory)
{
    FILE *file = open_in(directory, "inlined", "w");
    for (int i = 0; i < 9000; i++)
        putc_unlocked('b', file);
    fclose(file);
    file = open_in(directory, "inlined", "r");
    int count = 0;
    while (getc_unlocked(file) != EOF)
        count++;
    fclose(file);
    return count == 9000;
}

/* Between calls that are none of the compiler's, and with what is given back. */
static int use_inlined_between_calls(const char *directory)
{
    char text[100];
    FILE *file = open_in(directory, "inlined between calls", "w");
    for (int i = 0; i < 3000; i++) {
        putc_unlocked('c', file);
        fputs(i % 7 ? "some" : "more\n", file);
        putc_unlocked('d', file);
        if (i % 1000 == 999)
            fflush(i % 2000 == 999 ? file : NULL);
    }
    fclose(file);
    file = open_in(directory, "inlined between calls", "r");
    int count = 0;
    while (getc_unlocked(file) != EOF) {
        count++;
        if (count % 2)
            count += (int)fread(text, 1, 60, file);
    }
    fclose(file);
    return count == 3000 * 6 + 429;
}

static int use_wide_characters(const char *directory)
{
    FILE *file = open_in(directory, "wide characters", "w");
    for (int i = 0; i < 2000; i++) {
        fputwc(L'\u00e9', file);
        putwc(L'a', file);
        fputwc_unlocked(L'\u20ac', file);
        putwc_unlocked(L'b', file);
        fputws(L"na\u00efve", file);
        fwprintf(file, L"%d %ls\n", i, L"\u00fc");
    }
    fclose(file);
    wchar_t line[50];
    int lines = 0, number;
    file = open_in(directory, "wide characters", "r");
    while (fgetws(line, 50, file) && ++lines < 1000)
        ;
    for (int i = 0; i < 500; i++, lines++) {
        while (fgetwc(file) != L' ')
            ;
        while (getwc(file) != L'\n')
            ;
    }
    while (fwscanf(file, L"\u00e9a\u20acbna\u00efve%d%ls ", &number, line) == 2)
        lines += number == lines;
    fclose(file);
    return lines == 2000;
}

static int use_wide(const char *directory)
{
    locale_t utf8 = newlocale(LC_ALL_MASK, "C.UTF-8", NULL), old = uselocale(utf8);
    int works = utf8 && use_wide_characters(directory);
    uselocale(old);
    freelocale(utf8);
    return works;
}

static int use_numbers(const char *directory)
{
    FILE *file = open_in(directory, "numbers", "w");
    for (int i = 0; i < 1000; i++)
        fprintf(file, "%d\n", i);
    fclose(file);
    file = open_in(directory, "numbers", "r");
    int count = 0, value;
    while (fscanf(file, "%d", &value) == 1)
        count++;
    fclose(file);
    return count == 1000;
}

static int use_descriptor(const char *directory)
{
    FILE *file = open_in(directory, "descriptor", "w");
    fputs("stream, ", file);
    fflush(file);
    int written = (int)write(fileno(file), "descriptor", 10);
    FILE *twin = fdopen(dup(fileno(file)), "a");
    fputs(", twin", twin);
    fclose(twin);
    fclose(file);
    char path[4096];
    snprintf(path, sizeof path, "%s/descriptor", directory);
    FILE *other = freopen(path, "r", open_in(directory, "blocks", "r"));
    char text[100] = {0};
    size_t got = fread(text, 1, sizeof text, other);
    fclose(other);
    return written == 10 && got == 24 && !strcmp(text, "stream, descriptor, twin");
}

/* What follows a stream in its descriptor's number is not its file. */
static int use_number_again(const char *directory)
{
    char text[10];
    int ends[2];
    FILE *file = open_in(directory, "numbers", "r");
    int number = fileno(file);
    fclose(file);
    if (pipe(ends) || ends[0] != number)
        return 0;
    ssize_t moved = write(ends[1], "12345", 5) + read(ends[0], text, sizeof text);
    return moved == 10 && !close(ends[0]) && !close(ends[1]);
}

int use_c_streams(const char *directory)
{
    return use_blocks(directory) && use_lines(directory) && use_characters(directory) &&
           use_inlined(directory) && use_inlined_between_calls(directory) && use_wide(directory) &&
           use_numbers(directory) && use_descriptor(directory) && use_number_again(directory);
}
