/* Numbers of the names in the I/O plane. */
#ifndef TFD_IO_PLANE_IDS_H
#define TFD_IO_PLANE_IDS_H

/* Ids of planes, below 200: xprof shows a custom plane as device 500 + id, and device 700 is the host's threads. */
enum { TFD_PLANE_IO = 142, TFD_PLANE_SESSION };

#define TFD_PLANE_IO_NAME "/device:CUSTOM:I/O"
/* Name of a plane that no viewer shows. */
#define TFD_PLANE_SESSION_NAME "/tfdarshan"

/* Ids of lines; a thread's line has the thread's id. */
#define TFD_LINE_NOTE 0xffffffffll
#define TFD_LINE_COUNTERS 0xfffffffell

/* Ids of events; an operation's event has its code plus 1. */
enum { TFD_EVENT_RATES = 200, TFD_EVENT_NOTE = 300 };

/* Ids of stats; a file's name has TFD_STAT_FILES plus the file's id. */
enum {
    TFD_STAT_BYTES = 1,
    TFD_STAT_OFFSET,
    TFD_STAT_FILE,
    TFD_STAT_ERROR,
    TFD_STAT_SIZE,
    TFD_STAT_MODE,
    TFD_STAT_NEW_NAME,
    TFD_STAT_MB_PER_S,
    TFD_STAT_OPERATIONS,
    TFD_STAT_MARK,       /* of the plane: tfd_tf_report.mark */
    TFD_STAT_STANDS_FOR, /* of a thinned call, which is no segment */
    TFD_STAT_NAMES,
    TFD_STAT_FILES = 100,
};

#endif
