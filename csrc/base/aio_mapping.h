/* How /proc/self/maps names the mapping of an AIO context. Source: fs/aio.c of Linux. */
#ifndef TFD_AIO_MAPPING_H
#define TFD_AIO_MAPPING_H

#define TFD_AIO_MAPPING " /[aio]"

#endif
