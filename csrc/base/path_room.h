/* Room for a path that is not on the stack: a call may come from a signal handler, which has a few kilobytes. */
#ifndef TFD_PATH_ROOM_H
#define TFD_PATH_ROOM_H

enum { TFD_PATH_ROOM_BYTES = 4096 };

/* Takes a piece of TFD_PATH_ROOM_BYTES; waits where all are taken. Keep it for no call that may wait for others. */
char *tfd_path_room_take(void);
void tfd_path_room_return(const char *room);
/* In a child of fork, whose other threads, with what they took, are gone. */
void tfd_path_room_reset_in_child(void);

#endif
