#define _GNU_SOURCE
#include "offline/lmdb/turn.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

int tfd_lmdb_begin_turn(const char *path)
{
    /* flock(2) locks an open file description, so each turn opens the file, also in threads and after a fork. LMDB
     * itself takes other locks, of another file. */
    int turn = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (turn < 0)
        return -1;
    int failed;
    do
        failed = flock(turn, LOCK_EX);
    while (failed && errno == EINTR);
    if (!failed)
        return turn;
    close(turn);
    return -1;
}

void tfd_lmdb_end_turn(int turn)
{
    if (turn >= 0)
        close(turn);
}
