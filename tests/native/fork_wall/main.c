/* libdarshan's fork handler must come after ours, so libdarshan is not loaded before ours is registered. */
#define _GNU_SOURCE
#include <errno.h>

#include "check.h"
#include "darshan/library.h"

int main(void)
{
    const struct tfd_darshan_options options = {.path = "/nowhere/libdarshan.so",
                                                .config_path = "/nowhere/config"};

    CHECK_EQUAL(tfd_darshan_library_load(&options), -EPERM);
    CHECK_EQUAL(tfd_darshan_load(&options), -ELIBACC); /* there is none, but it was looked for */
    return 0;
}
