/* Buffers for paths that are not on the stack: a signal handler may have only a few kilobytes of stack. */
#ifndef TFD_PATH_ROOM_H
#define TFD_PATH_ROOM_H

enum { TFD_PATH_ROOM_BYTES = 4096 };

/* Take a buffer of TFD_PATH_ROOM_BYTES; wait if all are taken. Give it back before any call that may wait for other
 * threads. */
char *tfd_path_room_take(void);
void tfd_path_room_return(const char *room);
/* Call this in a child of fork, where the other threads that took buffers do not exist. */
void tfd_path_room_reset_in_child(void);

#endif
