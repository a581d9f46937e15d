/* The text of /proc/self/maps. */
#ifndef TFD_PROCESS_MAPS_H
#define TFD_PROCESS_MAPS_H

/* Return the text, which the caller frees; NULL if it cannot be read. Format: proc(5), /proc/pid/maps. */
char *tfd_process_maps_read(void);

#endif
