/* The kernel's own count of this process's I/O. */
#ifndef TFD_KERNEL_IO_H
#define TFD_KERNEL_IO_H

#include <stdatomic.h>
#include <stdint.h>

/* /proc/self/io at one instant. */
struct tfd_kernel_io {
    int64_t rchar, wchar, syscr, syscw, read_bytes, write_bytes;
    int64_t valid; /* 0: could not be read */
};

/* What the recorder itself read (/proc/self/maps and its like) is taken out of rchar. */
struct tfd_kernel_io tfd_kernel_io_now(void);
void tfd_kernel_io_exclude(int64_t bytes_read);
/* Where that is counted, and has another library of ours count it there, too: its recorder goes on with what the
 * first one has asked. */
_Atomic int64_t *tfd_kernel_io_excluded(void);
void tfd_kernel_io_exclude_in(_Atomic int64_t *bytes_read);

#endif
