/* The lock of the ranges and the list of files. Threads that are marked busy take it, and the watcher. */
#ifndef TFD_MAPPING_LOCK_H
#define TFD_MAPPING_LOCK_H

void tfd_mapping_lock(void);
void tfd_mapping_unlock(void);
void tfd_mapping_lock_reset_in_child(void);

#endif
