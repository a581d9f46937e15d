/* Readers of one file, in whatever thread or process, that take turns: a disk that seeks serves one best. */
#ifndef TFD_LMDB_TURN_H
#define TFD_LMDB_TURN_H

/* Waits until no other reader of the file has its turn. -1 where the file system knows no such lock; a reader that
 * is killed gives its turn up. */
int tfd_lmdb_begin_turn(const char *path);
void tfd_lmdb_end_turn(int turn);

#endif
