"""The counters of the files table that are one figure together: POSIX, STDIO, and copies in the kernel."""

from __future__ import annotations

# Darshan counts a descriptor or stream gained from another one as an open, too: a file was not opened by it.
OPENS = ("POSIX_OPENS", "STDIO_OPENS")
NO_OPENS = ("POSIX_DUPS", "POSIX_FILENOS", "STDIO_FDOPENS")
READ_TIMES = ("POSIX_F_READ_TIME", "STDIO_F_READ_TIME", "TFD_F_COPY_READ_TIME")
WRITE_TIMES = ("POSIX_F_WRITE_TIME", "STDIO_F_WRITE_TIME", "TFD_F_COPY_WRITE_TIME")
META_TIMES = ("POSIX_F_META_TIME", "STDIO_F_META_TIME")
BYTES_READ = ("POSIX_BYTES_READ", "STDIO_BYTES_READ", "TFD_COPY_READ_BYTES")
BYTES_WRITTEN = ("POSIX_BYTES_WRITTEN", "STDIO_BYTES_WRITTEN", "TFD_COPY_WRITE_BYTES")
READS = ("POSIX_READS", "STDIO_READS", "TFD_COPY_READS")
WRITES = ("POSIX_WRITES", "STDIO_WRITES", "TFD_COPY_WRITES")
# A file that was renamed, or replaced by one that was, or deleted is not the one that was read.
MOVES = ("POSIX_RENAME_TARGETS", "TFD_RENAMES", "TFD_UNLINKS")
