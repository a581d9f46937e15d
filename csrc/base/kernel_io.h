/* The kernel's own count of this process's I/O. */
#ifndef TFD_KERNEL_IO_H
#define TFD_KERNEL_IO_H

#include <stdatomic.h>
#include <stdint.h>

/* /proc/self/io at one instant, without the bytes that the recorder itself read (/proc/self/maps and others) and
 * wrote. */
struct tfd_kernel_io {
    int64_t rchar, wchar, syscr, syscw, read_bytes, write_bytes;
    int64_t own_rchar, own_wchar; /* of the recorder since the process began, this read included */
    int64_t valid;                /* 0: could not be read */
};

/* Bytes that the recorder itself has moved in this process. */
struct tfd_own_io {
    _Atomic int64_t read, written;
};

struct tfd_kernel_io tfd_kernel_io_now(void);
/* Update the bytes that the recorder itself has moved. */
void tfd_kernel_io_own(struct tfd_kernel_io *io);
void tfd_kernel_io_exclude(int64_t bytes_read);
void tfd_kernel_io_exclude_written(int64_t bytes_written);
/* Call this in a child of fork, for which the kernel counts from 0. */
void tfd_kernel_io_forget(void);
/* Return the recorder's own bytes, and have another library of ours count there too, because its recorder goes on from
 * what the first one has read. */
struct tfd_own_io *tfd_kernel_io_excluded(void);
void tfd_kernel_io_exclude_in(struct tfd_own_io *own);

#endif
