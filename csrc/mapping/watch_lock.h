/* Guards the ranges and the list of files. Taken by threads that are marked busy, and by the watcher. */
#ifndef TFD_WATCH_LOCK_H
#define TFD_WATCH_LOCK_H

void tfd_watch_lock(void);
void tfd_watch_unlock(void);
void tfd_watch_lock_reset_in_child(void);

#endif
