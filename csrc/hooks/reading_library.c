#define _GNU_SOURCE
#include "hooks/reading_library.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

/* Prefixes of file names. These libraries open files holding no lock of the C library. */
static const char names[][32] = {"libtensorflow_framework.so", "libtensorflow_cc.so"};
#define NAMES (sizeof names / sizeof *names)

static bool is_given[NAMES];
static unsigned long long looked_through; /* the loader's count of loads when no library was left to return */

struct look {
    struct tfd_image *image;
    unsigned long long loads;
};

static size_t place_of(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    size_t place = 0;
    while (slash && place < NAMES && strncmp(slash + 1, names[place], strlen(names[place])))
        place++;
    return slash ? place : NAMES;
}

static int find(struct dl_phdr_info *info, size_t size, void *context)
{
    struct look *look = context;
    if (size >= offsetof(struct dl_phdr_info, dlpi_subs))
        look->loads = info->dlpi_adds;
    if (look->loads && look->loads == looked_through)
        return -1;
    size_t place = place_of(info->dlpi_name);
    if (place == NAMES || is_given[place] || !tfd_image_read(info, look->image))
        return 0;
    is_given[place] = true;
    return 1;
}

bool tfd_next_reading_library(struct tfd_image *image)
{
    struct look look = {image, 0};
    bool is_found = dl_iterate_phdr(find, &look) > 0;
    if (!is_found)
        looked_through = look.loads;
    return is_found;
}
