/* Functions called through a table in data, as SQLite and TensorFlow's file systems do. */
#include <fcntl.h>
#include <unistd.h>

struct calls {
    int (*open)(const char *, int, ...);
    ssize_t (*read)(int, void *, size_t);
    int (*close)(int);
};

extern struct calls table_writable;
struct calls table_writable = {open, read, close};
extern const struct calls table_read_only;
const struct calls table_read_only = {open, read, close};

static long read_with(const struct calls *calls, const char *path, size_t bytes)
{
    char buffer[1024];
    int fd = calls->open(path, O_RDONLY);
    ssize_t got = fd < 0 ? -1 : calls->read(fd, buffer, bytes);
    return fd < 0 || calls->close(fd) ? -1 : got;
}

long read_by_tables(const char *path);
long read_by_tables(const char *path)
{
    return read_with(&table_writable, path, 100) + read_with(&table_read_only, path, 1000);
}
