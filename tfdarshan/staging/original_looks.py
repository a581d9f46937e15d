"""How often `run --staged` looks at an original, to see whether it has changed since it was copied."""

# A look holds so long for all processes on a host. Caches on local disks of data that is elsewhere believe
# what they know of a file for as long by default: Mountpoint for Amazon S3, Cloud Storage FUSE.
LOOK_AGAIN_S = 60.0
