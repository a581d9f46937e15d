/* Turns of the readers of one file, in any thread or process: a disk that seeks serves one reader best. */
#ifndef TFD_LMDB_TURN_H
#define TFD_LMDB_TURN_H

/* Wait until no other reader of the file has its turn; return a descriptor of the turn, -1 if the file system has no
 * such lock. A killed reader gives up its turn. */
int tfd_lmdb_begin_turn(const char *path);
void tfd_lmdb_end_turn(int turn);

#endif
