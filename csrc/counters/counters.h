/* Every counter of a file, one row each: X(name, unit, meaning).
 *
 * The POSIX and STDIO tables hold the counters of Darshan's public log
 * formats (POSIX version 4, STDIO version 2), in that order and with
 * Darshan's definitions. The OWN tables hold counters that Darshan lacks.
 * Counters of the other module are 0 in a row of the files table.
 *
 * All timestamps and times are in seconds; timestamps count from the start of
 * the session. 0 in a timestamp means that it never happened. */
#ifndef TFD_COUNTERS_H
#define TFD_COUNTERS_H

#define TFD_POSIX_COUNTERS(X)                                                                                \
    X(POSIX_OPENS, "calls", "descriptors gained: opens, and also dups and filenos")                          \
    X(POSIX_FILENOS, "calls", "descriptors taken from a stream with fileno")                                 \
    X(POSIX_DUPS, "calls", "descriptors duplicated with dup, dup2, dup3 or fcntl")                           \
    X(POSIX_READS, "calls", "successful reads of any kind, zero-length ones too")                            \
    X(POSIX_WRITES, "calls", "successful writes of any kind")                                                \
    X(POSIX_SEEKS, "calls", "successful lseeks")                                                             \
    X(POSIX_STATS, "calls", "successful stats, by path or descriptor, that found a regular file")            \
    X(POSIX_MMAPS, "calls", "mappings made of the file")                                                     \
    X(POSIX_FSYNCS, "calls", "successful fsyncs")                                                            \
    X(POSIX_FDSYNCS, "calls", "successful fdatasyncs")                                                       \
    X(POSIX_RENAME_SOURCES, "calls", "renames of the file, used before, to another name")                    \
    X(POSIX_RENAME_TARGETS, "calls", "renames of another file, used before, to this name")                   \
    X(POSIX_RENAMED_FROM, "record id", "the file first renamed to this name: its Darshan record id, or 0")   \
    X(POSIX_MODE, "mode", "mode argument of the last open that created the file, 0 if none did")             \
    X(POSIX_BYTES_READ, "bytes", "bytes read")                                                               \
    X(POSIX_BYTES_WRITTEN, "bytes", "bytes written")                                                         \
    X(POSIX_MAX_BYTE_READ, "offset", "highest offset read")                                                  \
    X(POSIX_MAX_BYTE_WRITTEN, "offset", "highest offset written")                                            \
    X(POSIX_CONSEC_READS, "calls", "reads that began at the byte after the one read last")                   \
    X(POSIX_CONSEC_WRITES, "calls", "writes that began at the byte after the one written last")              \
    X(POSIX_SEQ_READS, "calls", "reads that began anywhere after the byte read last")                        \
    X(POSIX_SEQ_WRITES, "calls", "writes that began anywhere after the byte written last")                   \
    X(POSIX_RW_SWITCHES, "switches", "times a read followed a write, or a write a read")                     \
    X(POSIX_MEM_NOT_ALIGNED, "calls", "reads and writes with a buffer off the memory alignment")             \
    X(POSIX_MEM_ALIGNMENT, "bytes", "memory alignment that buffers are held against")                        \
    X(POSIX_FILE_NOT_ALIGNED, "calls", "reads and writes at an offset off the file alignment")               \
    X(POSIX_FILE_ALIGNMENT, "bytes", "block size of the file system, -1 where it is not known")              \
    X(POSIX_MAX_READ_TIME_SIZE, "bytes", "size of the slowest read")                                         \
    X(POSIX_MAX_WRITE_TIME_SIZE, "bytes", "size of the slowest write")                                       \
    X(POSIX_SIZE_READ_0_100, "calls", "reads of 0 to 100 bytes")                                             \
    X(POSIX_SIZE_READ_100_1K, "calls", "reads of 101 bytes to 1 KiB")                                        \
    X(POSIX_SIZE_READ_1K_10K, "calls", "reads of more than 1 KiB, up to 10 KiB")                             \
    X(POSIX_SIZE_READ_10K_100K, "calls", "reads of more than 10 KiB, up to 100 KiB")                         \
    X(POSIX_SIZE_READ_100K_1M, "calls", "reads of more than 100 KiB, up to 1 MiB")                           \
    X(POSIX_SIZE_READ_1M_4M, "calls", "reads of more than 1 MiB, up to 4 MiB")                               \
    X(POSIX_SIZE_READ_4M_10M, "calls", "reads of more than 4 MiB, up to 10 MiB")                             \
    X(POSIX_SIZE_READ_10M_100M, "calls", "reads of more than 10 MiB, up to 100 MiB")                         \
    X(POSIX_SIZE_READ_100M_1G, "calls", "reads of more than 100 MiB, up to 1 GiB")                           \
    X(POSIX_SIZE_READ_1G_PLUS, "calls", "reads of more than 1 GiB")                                          \
    X(POSIX_SIZE_WRITE_0_100, "calls", "writes of 0 to 100 bytes")                                           \
    X(POSIX_SIZE_WRITE_100_1K, "calls", "writes of 101 bytes to 1 KiB")                                      \
    X(POSIX_SIZE_WRITE_1K_10K, "calls", "writes of more than 1 KiB, up to 10 KiB")                           \
    X(POSIX_SIZE_WRITE_10K_100K, "calls", "writes of more than 10 KiB, up to 100 KiB")                       \
    X(POSIX_SIZE_WRITE_100K_1M, "calls", "writes of more than 100 KiB, up to 1 MiB")                         \
    X(POSIX_SIZE_WRITE_1M_4M, "calls", "writes of more than 1 MiB, up to 4 MiB")                             \
    X(POSIX_SIZE_WRITE_4M_10M, "calls", "writes of more than 4 MiB, up to 10 MiB")                           \
    X(POSIX_SIZE_WRITE_10M_100M, "calls", "writes of more than 10 MiB, up to 100 MiB")                       \
    X(POSIX_SIZE_WRITE_100M_1G, "calls", "writes of more than 100 MiB, up to 1 GiB")                         \
    X(POSIX_SIZE_WRITE_1G_PLUS, "calls", "writes of more than 1 GiB")                                        \
    X(POSIX_STRIDE1_STRIDE, "bytes", "most frequent gap between accesses in one direction, 0 if none")       \
    X(POSIX_STRIDE2_STRIDE, "bytes", "second most frequent gap")                                             \
    X(POSIX_STRIDE3_STRIDE, "bytes", "third most frequent gap")                                              \
    X(POSIX_STRIDE4_STRIDE, "bytes", "fourth most frequent gap")                                             \
    X(POSIX_STRIDE1_COUNT, "calls", "accesses after the most frequent gap")                                  \
    X(POSIX_STRIDE2_COUNT, "calls", "accesses after the second most frequent gap")                           \
    X(POSIX_STRIDE3_COUNT, "calls", "accesses after the third most frequent gap")                            \
    X(POSIX_STRIDE4_COUNT, "calls", "accesses after the fourth most frequent gap")                           \
    X(POSIX_ACCESS1_ACCESS, "bytes", "most frequent size of a read or write, empty ones left out")           \
    X(POSIX_ACCESS2_ACCESS, "bytes", "second most frequent size")                                            \
    X(POSIX_ACCESS3_ACCESS, "bytes", "third most frequent size")                                             \
    X(POSIX_ACCESS4_ACCESS, "bytes", "fourth most frequent size")                                            \
    X(POSIX_ACCESS1_COUNT, "calls", "accesses of the most frequent size")                                    \
    X(POSIX_ACCESS2_COUNT, "calls", "accesses of the second most frequent size")                             \
    X(POSIX_ACCESS3_COUNT, "calls", "accesses of the third most frequent size")                              \
    X(POSIX_ACCESS4_COUNT, "calls", "accesses of the fourth most frequent size")                             \
    X(POSIX_FASTEST_RANK, "rank", "0: only a record shared by MPI ranks has a fastest one")                  \
    X(POSIX_FASTEST_RANK_BYTES, "bytes", "0: only a record shared by MPI ranks has a fastest one")           \
    X(POSIX_SLOWEST_RANK, "rank", "0: only a record shared by MPI ranks has a slowest one")                  \
    X(POSIX_SLOWEST_RANK_BYTES, "bytes", "0: only a record shared by MPI ranks has a slowest one")

#define TFD_STDIO_COUNTERS(X)                                                                                \
    X(STDIO_OPENS, "calls", "streams gained: fopens and freopens, and also fdopens")                         \
    X(STDIO_FDOPENS, "calls", "streams made of a descriptor with fdopen")                                    \
    X(STDIO_READS, "calls", "stream reads that returned something")                                          \
    X(STDIO_WRITES, "calls", "stream writes that wrote something")                                           \
    X(STDIO_SEEKS, "calls", "successful fseeks, fsetpos and rewinds")                                        \
    X(STDIO_FLUSHES, "calls", "successful fflushes of this stream")                                          \
    X(STDIO_BYTES_WRITTEN, "bytes", "bytes written to the stream")                                           \
    X(STDIO_BYTES_READ, "bytes", "bytes read from the stream")                                               \
    X(STDIO_MAX_BYTE_READ, "offset", "highest offset read")                                                  \
    X(STDIO_MAX_BYTE_WRITTEN, "offset", "highest offset written, or flushed after")                          \
    X(STDIO_FASTEST_RANK, "rank", "0: only a record shared by MPI ranks has a fastest one")                  \
    X(STDIO_FASTEST_RANK_BYTES, "bytes", "0: only a record shared by MPI ranks has a fastest one")           \
    X(STDIO_SLOWEST_RANK, "rank", "0: only a record shared by MPI ranks has a slowest one")                  \
    X(STDIO_SLOWEST_RANK_BYTES, "bytes", "0: only a record shared by MPI ranks has a slowest one")

/* Copies inside the kernel have their own counters and are not in POSIX_READS, POSIX_WRITES or their
 * bytes: Darshan does not see them, and its counters must mean the same here. */
#define TFD_OWN_COUNTERS(X)                                                                                  \
    X(TFD_ZERO_READS, "calls", "successful reads of zero bytes, mostly the probe for the end of the file")   \
    X(TFD_ZERO_SEQ_READS, "calls", "of the POSIX ones, those that POSIX_SEQ_READS counts")                   \
    X(TFD_ZERO_CONSEC_READS, "calls", "of the POSIX ones, those that POSIX_CONSEC_READS counts")             \
    X(TFD_FAILED_CALLS, "calls", "calls on this file that returned an error")                                \
    X(TFD_STATS_OTHER, "calls", "successful stats that found no regular file: a directory, a device")        \
    X(TFD_RENAMES, "calls", "successful renames of this file, also where nothing was known of it before")    \
    X(TFD_UNSEEN_CALLS, "calls", "with the darshan engine: calls counted here that libdarshan did not see")  \
    X(TFD_UNLINKS, "calls", "successful unlinks and removes")                                                \
    X(TFD_TRUNCATES, "calls", "successful truncates and ftruncates")                                         \
    X(TFD_MMAP_BYTES, "bytes", "length of the mappings made, whether they were touched or not")              \
    X(TFD_COPY_READS, "calls", "times the kernel read the file for sendfile, copy_file_range or splice")     \
    X(TFD_COPY_READ_BYTES, "bytes", "bytes the kernel read for such copies")                                 \
    X(TFD_COPY_WRITES, "calls", "times the kernel wrote the file for such copies")                           \
    X(TFD_COPY_WRITE_BYTES, "bytes", "bytes the kernel wrote for such copies")

/* Cost of reads through mappings of the file. If faults were events only part of the time (see the process's
 * metadata), counts and times are of that part. */
#define TFD_MAPPING_COUNTERS(X)                                                                              \
    X(MMAP_MAPPINGS, "mappings", "mappings of the file made, or there when recording began")                 \
    X(MMAP_BYTES_MAPPED, "bytes", "their length, whether they were touched or not")                          \
    X(MMAP_FAULTS, "faults", "page faults on them that were seen, -1 where they could not be")               \
    X(MMAP_MAJOR_FAULTS, "faults",                                                                           \
      "of these, those that began to read from storage; others wait for it too")                             \
    X(MMAP_BYTES_TOUCHED, "bytes",                                                                           \
      "bytes that these page faults made accessible: a page for one out of order, 16 for others; -1 if "     \
      "unknown")                                                                                             \
    X(MMAP_BYTES_IN, "bytes", "bytes of it that came into the page cache while mapped, -1 if unknown")       \
    X(MMAP_BYTES_EVICTED, "bytes",                                                                           \
      "bytes of it that left the page cache while mapped, at least, -1 if unknown")

#define TFD_POSIX_F_COUNTERS(X)                                                                              \
    X(POSIX_F_OPEN_START_TIMESTAMP, "s", "start of the earliest open")                                       \
    X(POSIX_F_READ_START_TIMESTAMP, "s", "start of the earliest read")                                       \
    X(POSIX_F_WRITE_START_TIMESTAMP, "s", "start of the earliest write")                                     \
    X(POSIX_F_CLOSE_START_TIMESTAMP, "s", "start of the earliest close")                                     \
    X(POSIX_F_OPEN_END_TIMESTAMP, "s", "end of the latest open")                                             \
    X(POSIX_F_READ_END_TIMESTAMP, "s", "end of the latest read")                                             \
    X(POSIX_F_WRITE_END_TIMESTAMP, "s", "end of the latest write")                                           \
    X(POSIX_F_CLOSE_END_TIMESTAMP, "s", "end of the latest close")                                           \
    X(POSIX_F_READ_TIME, "s", "time in reads; reads of this file at the same time count once")               \
    X(POSIX_F_WRITE_TIME, "s", "time in writes, fsync and fdatasync; overlaps count once")                   \
    X(POSIX_F_META_TIME, "s", "time in open, close, dup, fileno, stat, seek, rename; overlaps count once")   \
    X(POSIX_F_MAX_READ_TIME, "s", "duration of the slowest read")                                            \
    X(POSIX_F_MAX_WRITE_TIME, "s", "duration of the slowest write")                                          \
    X(POSIX_F_FASTEST_RANK_TIME, "s", "0: only a record shared by MPI ranks has a fastest one")              \
    X(POSIX_F_SLOWEST_RANK_TIME, "s", "0: only a record shared by MPI ranks has a slowest one")              \
    X(POSIX_F_VARIANCE_RANK_TIME, "s2", "0: only a record shared by MPI ranks has a variance")               \
    X(POSIX_F_VARIANCE_RANK_BYTES, "bytes2", "0: only a record shared by MPI ranks has a variance")

#define TFD_STDIO_F_COUNTERS(X)                                                                              \
    X(STDIO_F_META_TIME, "s", "time in fopen, fclose, fdopen, fseek; overlaps count once")                   \
    X(STDIO_F_WRITE_TIME, "s", "time in stream writes and fflush; overlaps count once")                      \
    X(STDIO_F_READ_TIME, "s", "time in stream reads; overlaps count once")                                   \
    X(STDIO_F_OPEN_START_TIMESTAMP, "s", "start of the earliest fopen")                                      \
    X(STDIO_F_CLOSE_START_TIMESTAMP, "s", "start of the earliest fclose")                                    \
    X(STDIO_F_WRITE_START_TIMESTAMP, "s", "start of the earliest stream write or fflush")                    \
    X(STDIO_F_READ_START_TIMESTAMP, "s", "start of the earliest stream read")                                \
    X(STDIO_F_OPEN_END_TIMESTAMP, "s", "end of the latest fopen")                                            \
    X(STDIO_F_CLOSE_END_TIMESTAMP, "s", "end of the latest fclose")                                          \
    X(STDIO_F_WRITE_END_TIMESTAMP, "s", "end of the latest stream write or fflush")                          \
    X(STDIO_F_READ_END_TIMESTAMP, "s", "end of the latest stream read")                                      \
    X(STDIO_F_FASTEST_RANK_TIME, "s", "0: only a record shared by MPI ranks has a fastest one")              \
    X(STDIO_F_SLOWEST_RANK_TIME, "s", "0: only a record shared by MPI ranks has a slowest one")              \
    X(STDIO_F_VARIANCE_RANK_TIME, "s2", "0: only a record shared by MPI ranks has a variance")               \
    X(STDIO_F_VARIANCE_RANK_BYTES, "bytes2", "0: only a record shared by MPI ranks has a variance")

#define TFD_OWN_F_COUNTERS(X)                                                                                \
    X(TFD_F_COPY_READ_TIME, "s", "time the kernel took to read the file for copies; overlaps count once")    \
    X(TFD_F_COPY_WRITE_TIME, "s", "time the kernel took to write the file for copies; overlaps count once")

#define TFD_MAPPING_F_COUNTERS(X)                                                                            \
    X(MMAP_F_FAULT_START_TIMESTAMP, "s", "start of the earliest page fault that was seen")                   \
    X(MMAP_F_FAULT_END_TIMESTAMP, "s", "end of the latest page fault that was seen")                         \
    X(MMAP_F_FAULT_TIME, "s",                                                                                \
      "time in page faults that were seen, or a lower bound from looks at threads where MMAP_FAULTS is "     \
      "-1; overlaps count once; -1 if unknown")                                                              \
    X(MMAP_F_WAIT_TIME, "s", "the same added up over threads, -1 if unknown")                                \
    X(MMAP_F_MAX_FAULT_TIME, "s", "duration of the slowest page fault that was seen")

#define TFD_COUNTERS(X)                                                                                      \
    TFD_POSIX_COUNTERS(X) TFD_STDIO_COUNTERS(X) TFD_OWN_COUNTERS(X) TFD_MAPPING_COUNTERS(X)
#define TFD_F_COUNTERS(X)                                                                                    \
    TFD_POSIX_F_COUNTERS(X) TFD_STDIO_F_COUNTERS(X) TFD_OWN_F_COUNTERS(X) TFD_MAPPING_F_COUNTERS(X)

enum tfd_counter {
#define X(name, unit, meaning) TFD_COUNTER_##name,
    TFD_COUNTERS(X)
#undef X
        TFD_COUNTER_COUNT
};

enum tfd_f_counter {
#define X(name, unit, meaning) TFD_COUNTER_##name,
    TFD_F_COUNTERS(X)
#undef X
        TFD_F_COUNTER_COUNT
};

#endif
