/* The text of /proc/self/maps. */
#ifndef TFD_PROCESS_MAPS_H
#define TFD_PROCESS_MAPS_H

/* For the caller to free; NULL where it cannot be read. Format: proc(5), /proc/pid/maps. */
char *tfd_process_maps_read(void);

#endif
