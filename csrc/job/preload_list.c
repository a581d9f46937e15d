#include "job/preload_list.h"

#include <string.h>

#define SEPARATORS ": "

/* Remove an entry and one separator. */
static void remove_entry(char *list, char *entry, size_t bytes)
{
    if (entry[bytes])
        memmove(entry, entry + bytes + 1, strlen(entry + bytes + 1) + 1);
    else
        entry[entry > list ? -1 : 0] = '\0';
}

bool tfd_preload_list_remove(char *list, const char *library)
{
    size_t length = library ? strlen(library) : 0;
    for (char *entry = list; length && *entry;) {
        size_t bytes = strcspn(entry, SEPARATORS);
        if (bytes == length && !memcmp(entry, library, length)) {
            remove_entry(list, entry, bytes);
            return true;
        }
        entry += bytes + !!entry[bytes];
    }
    return false;
}
