/* The mappings of files and their protection, which attaching may change only while it writes. */
#ifndef MAPPINGS_H
#define MAPPINGS_H

#include "check.h"

/* One line for each, for the caller to free. The heap and what lies in `directory`, the spool, come and go. */
static inline char *mappings_of_files(const char *directory, int *writable_and_executable)
{
    char *text = NULL, *line = NULL;
    size_t size = 0, capacity = 0;
    FILE *kept = open_memstream(&text, &size), *maps = fopen("/proc/self/maps", "r");
    CHECK(kept && maps);
    while (getline(&line, &capacity, maps) > 0) {
        const char *path = strchr(line, '/');
        if (path && strncmp(path, directory, strlen(directory)))
            fputs(line, kept);
        if (strstr(line, " rwxp "))
            ++*writable_and_executable;
    }
    free(line);
    CHECK(fclose(kept) == 0 && fclose(maps) == 0);
    return text;
}

#endif
