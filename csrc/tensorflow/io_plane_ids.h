/* The numbers that the I/O plane's names have. */
#ifndef TFD_IO_PLANE_IDS_H
#define TFD_IO_PLANE_IDS_H

/* xprof gives custom planes 500 + id for a device, and 200 would be the host's threads: below it. */
enum { TFD_PLANE_IO = 142, TFD_PLANE_SESSION };

#define TFD_PLANE_IO_NAME "/device:CUSTOM:I/O"
/* No viewer looks for a plane of this name. */
#define TFD_PLANE_SESSION_NAME "/tfdarshan"

/* Lines: a thread's is its id. */
#define TFD_LINE_NOTE 0xffffffffll
#define TFD_LINE_COUNTERS 0xfffffffell

/* Events: an operation's is its code, plus one. */
enum { TFD_EVENT_RATES = 200, TFD_EVENT_NOTE = 300 };

/* Stats; a file's name is TFD_STAT_FILES + its id. */
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
    TFD_STAT_MARK, /* of the plane: tfd_tf_report.mark */
    TFD_STAT_NAMES,
    TFD_STAT_FILES = 100,
};

#endif
