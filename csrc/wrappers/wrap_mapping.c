/* Wrappers of the calls that map files. Only mmap is recorded as an event. mapping/ is told of all of them, since reads
 * through a mapping are not calls. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "hooks/hook_table.h"
#include "mapping/mappings.h"
#include "recorder/recorder_calls.h"
#include "recorder/rings.h"
#include "wrappers/wrappers.h"

/* A call with a fixed address unmaps what is there. */
static void before_mmap(void *address, size_t length, int flags)
{
    if (flags & MAP_FIXED)
        tfd_mapping_ending(address, length);
}

static void *record_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset,
                         uint64_t start)
{
    if (fd >= 0 && !(flags & MAP_ANONYMOUS)) {
        bool failed = address == MAP_FAILED;
        tfd_record_descriptor(TFD_OP_MMAP, fd, offset, failed ? 0 : (int64_t)length, failed, start);
        if (!failed && !(protection & PROT_EXEC))
            tfd_mapping_made(address, length, fd, offset);
        if (!failed)
            tfd_rings_mapped(address, length, fd, offset);
    }
    return address;
}

void *tfd_wrap_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
    uint64_t start = tfd_ticks();
    before_mmap(address, length, flags);
    void *mapped = TFD_NEXT(mmap)(address, length, protection, flags, fd, offset);
    return record_mmap(mapped, length, protection, flags, fd, offset, start);
}

void *tfd_wrap_mmap64(void *address, size_t length, int protection, int flags, int fd, off64_t offset)
{
    uint64_t start = tfd_ticks();
    before_mmap(address, length, flags);
    void *mapped = TFD_NEXT(mmap64)(address, length, protection, flags, fd, offset);
    return record_mmap(mapped, length, protection, flags, fd, offset, start);
}

int tfd_wrap_munmap(void *address, size_t length)
{
    tfd_mapping_ending(address, length);
    tfd_rings_unmapping(address);
    return TFD_NEXT(munmap)(address, length);
}

void *tfd_wrap_mremap(void *address, size_t old_size, size_t new_size, int flags, ...)
{
    void *new_address = NULL;
    if (flags & MREMAP_FIXED) {
        va_list arguments;
        va_start(arguments, flags);
        new_address = va_arg(arguments, void *);
        va_end(arguments);
    }
    struct tfd_range moving = tfd_mapping_moving(address, old_size);
    void *moved = TFD_NEXT(mremap)(address, old_size, new_size, flags, new_address);
    if (moved == MAP_FAILED)
        tfd_mapping_moved(&moving, address, old_size);
    else
        tfd_mapping_moved(&moving, moved, new_size);
    return moved;
}
