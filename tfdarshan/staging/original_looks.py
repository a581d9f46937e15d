"""When `run --staged` looks at an original, to see whether it has changed since it was copied."""

# A look holds so long for all processes on a host. Caches on local disks of data that is elsewhere believe
# what they know of a file for as long by default: Mountpoint for Amazon S3, Cloud Storage FUSE.
LOOK_AGAIN_S = 60.0
# While the program starts, which takes seconds if it imports a framework, originals are looked at ahead: so
# many at a time where looks are slow, and for so long, which bounds what a server is asked for in vain.
LOOK_AHEAD_PROCESSES = 16
LOOK_AHEAD_S = 5.0
