/* The other tool, which is a library of its own. */
#define _GNU_SOURCE
#include <unistd.h>

typedef ssize_t pread_function(int, void *, size_t, off_t);

extern pread_function *after_theirs;
extern int their_calls;
pread_function their_pread;

pread_function *after_theirs;
int their_calls;

ssize_t their_pread(int from, void *buffer, size_t count, off_t offset)
{
    their_calls++;
    return after_theirs(from, buffer, count, offset);
}
