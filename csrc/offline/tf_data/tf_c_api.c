#define _GNU_SOURCE
#include "offline/tf_data/tf_c_api.h"

#include <dlfcn.h>
#include <string.h>

static const char *const names[] = {
#define TF_NAME(result, name, parameters) #name,
    TF_FUNCTIONS(TF_NAME)
#undef TF_NAME
};

bool tfd_find_tf_c_api(struct tf_c_api *api)
{
    /* TensorFlow 2.16 loads the library without making its symbols global. */
    void *library = dlopen("libtensorflow_framework.so.2", RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return false;
    enum { COUNT = sizeof names / sizeof *names };
    void *found[COUNT];
    _Static_assert(sizeof found == sizeof *api, "a pointer each");
    for (size_t i = 0; i < COUNT; i++)
        if (!(found[i] = dlsym(library, names[i])))
            return false;
    memcpy(api, found, sizeof found);
    return true;
}
