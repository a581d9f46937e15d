/* A call of read and one of fsync, each through a slot of the kind KIND (flags.mk). */
#include <unistd.h>

#if defined(KIND_data)
struct operations {
    ssize_t (*read)(int, void *, size_t);
    int (*sync)(int);
};

extern const struct operations operations[];
const struct operations operations[] = {{read, fsync}};
#define READ operations[0].read
#define SYNC operations[0].sync
#else
/* Through the procedure linkage table, or, built with -fno-plt, through the global offset table alone. */
#define READ read
#define SYNC fsync
#endif

int read_and_sync(int fd, char *buffer, size_t bytes);
int read_and_sync(int fd, char *buffer, size_t bytes)
{
    return READ(fd, buffer, bytes) == (ssize_t)bytes && SYNC(fd) == 0 ? 0 : -1;
}
