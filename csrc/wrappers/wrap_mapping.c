/* Wrappers of mmap. What is then read through the mapping, no call shows: the
 * summary names the mapped bytes beside what was read. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "hooks/hook_table.h"
#include "recorder/recorder.h"
#include "wrappers/wrappers.h"

static void *record_mmap(void *address, size_t length, int flags, int fd, off_t offset, uint64_t start)
{
    if (fd >= 0 && !(flags & MAP_ANONYMOUS)) {
        bool failed = address == MAP_FAILED;
        tfd_record_descriptor(TFD_OP_MMAP, fd, offset, failed ? 0 : (int64_t)length, failed, start);
    }
    return address;
}

void *tfd_wrap_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
    uint64_t start = tfd_ticks();
    void *mapped = TFD_NEXT(mmap)(address, length, protection, flags, fd, offset);
    return record_mmap(mapped, length, flags, fd, offset, start);
}

void *tfd_wrap_mmap64(void *address, size_t length, int protection, int flags, int fd, off64_t offset)
{
    uint64_t start = tfd_ticks();
    void *mapped = TFD_NEXT(mmap64)(address, length, protection, flags, fd, offset);
    return record_mmap(mapped, length, flags, fd, offset, start);
}
