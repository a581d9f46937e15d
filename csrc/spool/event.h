/* One recorded call. The hot path writes events, fold.c and the reader read them. */
#ifndef TFD_EVENT_H
#define TFD_EVENT_H

#include <stdint.h>

/* Operations: X(enum suffix, name shown to users, module, class).
 * module: the module of Darshan that counts the call; class: the union of wall
 * time that its interval belongs to. */
#define TFD_OPERATIONS(X)                                                                                    \
    X(OPEN, "open", POSIX, META)                                                                             \
    X(CLOSE, "close", POSIX, META)                                                                           \
    X(READ, "read", POSIX, READ)                                                                             \
    X(PREAD, "pread", POSIX, READ)                                                                           \
    X(READV, "readv", POSIX, READ)                                                                           \
    X(PREADV, "preadv", POSIX, READ)                                                                         \
    X(WRITE, "write", POSIX, WRITE)                                                                          \
    X(PWRITE, "pwrite", POSIX, WRITE)                                                                        \
    X(WRITEV, "writev", POSIX, WRITE)                                                                        \
    X(PWRITEV, "pwritev", POSIX, WRITE)                                                                      \
    X(SEEK, "lseek", POSIX, META)                                                                            \
    X(STAT, "stat", POSIX, META)                                                                             \
    X(FSTAT, "fstat", POSIX, META)                                                                           \
    X(FSYNC, "fsync", POSIX, WRITE)                                                                          \
    X(FDATASYNC, "fdatasync", POSIX, WRITE)                                                                  \
    X(DUP, "dup", POSIX, META)                                                                               \
    X(FILENO, "fileno", POSIX, META)                                                                         \
    X(MMAP, "mmap", POSIX, META)                                                                             \
    X(RENAME, "rename", POSIX, META)                                                                         \
    X(UNLINK, "unlink", POSIX, META)                                                                         \
    X(TRUNCATE, "truncate", POSIX, META)                                                                     \
    X(COPY_READ, "copy_read", POSIX, READ)                                                                   \
    X(COPY_WRITE, "copy_write", POSIX, WRITE)                                                                \
    X(FOPEN, "fopen", STDIO, META)                                                                           \
    X(FDOPEN, "fdopen", STDIO, META)                                                                         \
    X(FCLOSE, "fclose", STDIO, META)                                                                         \
    X(FREAD, "fread", STDIO, READ)                                                                           \
    X(FWRITE, "fwrite", STDIO, WRITE)                                                                        \
    X(FSEEK, "fseek", STDIO, META)                                                                           \
    X(FFLUSH, "fflush", STDIO, WRITE)

enum tfd_operation {
#define X(suffix, name, module, io_class) TFD_OP_##suffix,
    TFD_OPERATIONS(X)
#undef X
        TFD_OPERATION_COUNT
};

enum tfd_module { TFD_MODULE_POSIX, TFD_MODULE_STDIO, TFD_MODULE_COUNT };
enum tfd_class { TFD_CLASS_READ, TFD_CLASS_WRITE, TFD_CLASS_META, TFD_CLASS_COUNT };

/* Event flags. */
enum {
    TFD_FLAG_MEM_UNALIGNED = 1, /* transfer: buffer not aligned to TFD_MEM_ALIGNMENT */
    TFD_FLAG_WRITABLE = 1,      /* open: for writing, by any process that gets the descriptor */
    TFD_FLAG_EXCHANGE = 1,      /* rename: of two files by each other's name */
    TFD_FLAG_APPEND = 2,        /* opened with O_APPEND, or written with RWF_APPEND */
    TFD_FLAG_TRUNCATE = 4,      /* open with O_TRUNC */
    TFD_FLAG_IN_PLACE = 4,      /* write with RWF_NOAPPEND: at its offset, though opened with O_APPEND */
    TFD_FLAG_UNSEEN = 16,       /* with the darshan engine: libdarshan did not see the call */
    TFD_FLAG_EMPTY_COUNTS = 8,  /* fread, fwrite of 0 bytes that Darshan counts: fputs(""), fscanf, getw */
    TFD_FLAG_MAJOR_FAULT = 32,  /* page fault: it read from storage */
    TFD_FLAG_FIRST_OPEN = 64,   /* thinned call: the first open of its file, kept whatever the resolution */
};

/* Darshan's default memory alignment, in bytes. */
#define TFD_MEM_ALIGNMENT 8

/* Meaning of `offset` and `length`, by operation:
 *   reads, writes, copies   file position the transfer began at; bytes moved
 *   lseek, fseek            resulting position; 0
 *   open, fopen             creation mode (0 without O_CREAT); 0
 *   stat, fstat             -1; st_size of a regular file, else -1
 *   mmap                    file offset; bytes mapped
 *   rename                  file id of the new name; 0
 *   truncate                -1; new size
 *   others                  -1; 0
 * A failed call has error != 0 and length 0. */
struct tfd_event {
    uint64_t start; /* ticks, see struct tfd_clock_sample */
    uint64_t end;   /* ticks */
    int64_t offset;
    int64_t length;
    uint32_t file; /* index into the spool's file array; 0 = no file */
    uint8_t operation;
    uint8_t flags;
    uint16_t error; /* errno, 0 on success */
};

#endif
