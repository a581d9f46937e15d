/* Absolute paths without empty components, "." and "..", by their names alone: behind a symbolic link, ".." may lead
 * elsewhere. */
#ifndef TFD_PLAIN_PATH_H
#define TFD_PLAIN_PATH_H

#include <stddef.h>
#include <string.h>

struct plain_path {
    char *name; /* with room for what is appended; it gets no NUL */
    size_t length;
    size_t climbed; /* how much of the appended path its last ".." ends, 0 without any */
    size_t folder;  /* how much of `name` is the folder that this leads to */
};

static inline void tfd_plain_path_append(struct plain_path *plain, const char *path)
{
    for (const char *at = path; *at;) {
        size_t part = strcspn(at, "/");
        if (part == 2 && !memcmp(at, "..", part)) {
            while (plain->length && plain->name[--plain->length] != '/')
                ;
            plain->climbed = (size_t)(at - path) + part;
            plain->folder = plain->length;
        } else if (part && !(part == 1 && at[0] == '.')) {
            plain->name[plain->length++] = '/';
            memcpy(plain->name + plain->length, at, part);
            plain->length += part;
        }
        at += part + (at[part] == '/');
    }
}

#endif
