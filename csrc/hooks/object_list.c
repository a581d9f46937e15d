#define _GNU_SOURCE
#include "hooks/object_list.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* A loaded object, identified by its load address and its dynamic section: names are neither unique nor stable. */
struct object {
    uintptr_t base;
    const void *dynamic;
    char *name;    /* NULL: the place is free */
    uint64_t seen; /* number of the scan that last listed it */
    bool pinned;
};

static struct object *objects;
static size_t object_count, object_capacity, free_places;

bool tfd_object_is_known(const struct tfd_image *image, uint64_t stamp)
{
    for (size_t i = 0; i < object_count; i++) {
        struct object *object = &objects[i];
        if (object->base != image->base || object->dynamic != image->dynamic || !object->name ||
            strcmp(object->name, image->name))
            continue;
        object->seen = stamp;
        return true;
    }
    return false;
}

static struct object *free_place(void)
{
    for (size_t i = 0; free_places && i < object_count; i++) {
        if (objects[i].name)
            continue;
        free_places--;
        return &objects[i];
    }
    if (object_count == object_capacity) {
        size_t larger = object_capacity ? 2 * object_capacity : 256;
        struct object *grown = realloc(objects, larger * sizeof *objects);
        if (!grown)
            return NULL;
        objects = grown;
        object_capacity = larger;
    }
    return &objects[object_count++];
}

int64_t tfd_object_add(const struct tfd_image *image, uint64_t stamp)
{
    char *name = strdup(image->name);
    struct object *object = name ? free_place() : NULL;
    if (!object) {
        free(name);
        return -1;
    }
    *object = (struct object){image->base, image->dynamic, name, stamp, false};
    return object - objects;
}

void tfd_object_drop(uint32_t object)
{
    if (!objects[object].name)
        return;
    free(objects[object].name);
    objects[object].name = NULL;
    free_places++;
}

void tfd_objects_forget_vanished(uint64_t stamp)
{
    for (size_t i = 0; i < object_count; i++)
        if (objects[i].seen != stamp && !objects[i].pinned)
            tfd_object_drop((uint32_t)i);
}

bool tfd_object_pin(uint32_t number, bool *newly)
{
    struct object *object = &objects[number];
    struct link_map *map = NULL;
    *newly = !object->pinned;
    if (object->pinned || !object->name[0])
        return object->pinned = true;
    void *handle = dlopen(object->name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    if (handle) {
        object->pinned = !dlinfo(handle, RTLD_DI_LINKMAP, &map) && map->l_addr == object->base &&
                         map->l_ld == object->dynamic;
        dlclose(handle);
    }
    return object->pinned;
}

void tfd_objects_clear(void)
{
    for (size_t i = 0; i < object_count; i++)
        free(objects[i].name);
    object_count = free_places = 0;
}
