/* The interface of the core: the only header that cffi reads, without its preprocessor lines, so it has plain
 * declarations only. Functions that can fail return 0 or -errno, and leave a sentence in tfd_last_error(). */

#ifndef TFD_TFDARSHAN_H
#define TFD_TFDARSHAN_H

#include <stddef.h>
#include <stdint.h>

/* ---- session: attach, record, detach ---- */

enum {
    TFD_MAPPED_ALL = 1,
    TFD_MAPPED_LARGE =
        2 /* mappings of at least TFD_MAPPED_LARGE_BYTES of files on storage, in processes where
                            one more thread changes nothing: with several threads and no system call filter */
};
enum { TFD_MAPPED_LARGE_BYTES = 67108864 };

struct tfd_options {
    const char *spool_directory; /* a writable folder, which gets one file <pid>.spool per process */
    uint64_t capacity_bytes;     /* memory cap of one process's spool */
    uint64_t trace_limit_bytes;  /* part of the cap for segments, at most; 0: no trace */
    const char *const *include;  /* path patterns; a match wins over exclude */
    size_t include_count;
    const char *const *exclude;
    size_t exclude_count;
    size_t exclude_followed; /* leading exclude patterns whose matches are noted, like those of include */
    int follow_children;     /* record forked children too */
    int darshan;             /* calls pass through the libdarshan that was loaded or adopted */
    int mapped; /* watch page faults and page cache of mapped files: TFD_MAPPED_ALL, TFD_MAPPED_LARGE or 0 */
    const char *program_library; /* records started programs without Python; NULL: these are not recorded */
};

struct tfd_attach_report {
    uint64_t objects_scanned;
    uint64_t relocations_scanned;
    uint64_t slots_patched; /* that hold our wrappers now */
    uint64_t slots_foreign; /* left alone: another tool has patched them */
    uint64_t slots_refused; /* left alone: their page could not be made writable */
    uint64_t objects_pinned;
    uint64_t slots_restored; /* detach only */
    uint64_t elapsed_ns;
    /* Attach only: what recording adds to a read or write, and to an open with its close; 0 if not measured. */
    uint64_t transfer_cost_ns, open_cost_ns;
};

enum { TFD_MEMORY_SHARE = 8 }; /* a recording takes 1/TFD_MEMORY_SHARE of the memory that is left, at most */

struct tfd_memory_left { /* bytes, UINT64_MAX without a limit */
    uint64_t cgroup;     /* by the control groups of this process; page cache of files counts as left */
    uint64_t address_space,
        lockable; /* by RLIMIT_AS; by RLIMIT_MEMLOCK, if all mapped memory could be locked */
};

/* `root` is put before the names of the kernel's files; "" outside tests. */
void tfd_memory_left(const char *root, struct tfd_memory_left *left);
int tfd_folder_is_memory(const char *path); /* 1: a file there takes memory of a control group */

int tfd_session_start(const struct tfd_options *options, struct tfd_attach_report *report);
int tfd_session_stop(struct tfd_attach_report *report);
/* Record a process that was started while a session records into the spool folder that its environment names
 * (TFDARSHAN_SESSION). Return 0 also if it is recorded already. */
int tfd_session_join(const char *spool_directory);
/* Record this process in later sessions that an ancestor starts and that follow its children, from the process's next
 * open or read on. `interpreter`: an address in the library that makes these calls. */
void tfd_job_wait_for_sessions(const void *interpreter);
/* The same, in place of the library for late joins. `found` returns what a slot of that library held before. */
void tfd_job_take_over(const void *interpreter, void *(*found)(void **slot));
/* The same, if a session may record already that this process has not joined. */
void tfd_job_meet(const void *interpreter);
/* Name this process's job in its environment, so that programs that it starts, and children that it forks, wait for its
 * sessions. */
void tfd_job_begin(const void *interpreter);
int tfd_session_active(void);
/* Copy the spool that this process records into, as it is at one moment: totals, trace and sums over time agree. Threads
 * of the job may wait meanwhile. Return -ESRCH if `source` is another file. */
int tfd_session_copy(int source, int target);
/* Do the same as tfd_session_join() in an interpreter that the library for programs has recorded from its start. Keeps
 * what that library has recorded. Return -ENOENT if it does not record this process. */
int tfd_session_take_over(const char *spool_directory);
/* Return the kernel's counts of bytes that this process has read, -1 each if /proc/self/io cannot be read. */
void tfd_kernel_reads(int64_t *rchar, int64_t *read_bytes);
const char *tfd_last_error(void);
/* Have the process end by SIGINT instead of exiting, after Python has finished. */
int tfd_end_by_interrupt(void);

/* ---- storage emulation: calls on chosen paths take as long as on another device ---- */

enum { TFD_STORAGE_PLACES = 64 };

struct tfd_storage_model { /* 0: takes no time */
    uint64_t open_ns, read_ns, write_ns;
    uint64_t empty_read_ns, stat_ns, sync_ns; /* end-of-file read, stat() by path, sync */
    uint32_t concurrency;                     /* calls that pay these latencies at the same time */
    uint64_t seek_ns[TFD_STORAGE_PLACES];     /* with 1, 2, 3 ... calls under way */
    uint64_t read_bytes_per_s, write_bytes_per_s;
};

struct tfd_emulation_totals { /* of the last session's device and all processes of the session */
    uint64_t calls;           /* that the device served */
    uint64_t delayed_calls;   /* of these, throttled */
    uint64_t delayed_ns;      /* of throttled calls, added up over threads */
    uint64_t modelled_ns;     /* calls' simulated durations, queueing included, added up */
};

/* Emulate storage in the next session only; NULL: none. Paths are patterns like those of tfd_options; without any, all
 * recorded paths are emulated. */
int tfd_emulate(const struct tfd_storage_model *model, const char *const *paths, size_t path_count);
void tfd_emulation_totals(struct tfd_emulation_totals *totals);

/* ---- the darshan engine: an unmodified libdarshan counts too ---- */

struct tfd_darshan_options {
    const char *path;        /* of libdarshan, or its name for the dynamic loader */
    const char *config_path; /* its configuration file */
    uint64_t name_bytes;     /* NAMEMEM of that file */
};

struct tfd_darshan_info {
    char path[4096];
    char log_version[16];
    char version[32];
    int32_t foreign;          /* 1: the program loaded it, so it is only read */
    int32_t wrapped;          /* hooked symbols that it wraps */
    double clock_offset_s;    /* CLOCK_REALTIME of its time 0 */
    uint64_t nested_calls;    /* of signal handlers inside it, which it did not see */
    uint64_t records_left[2]; /* records that POSIX and STDIO have room for; all bits set before the first */
};

/* Find a libdarshan in the process; return 1 if it is used, 0 if there is none. */
int tfd_darshan_adopt(void);
/* Load and initialise libdarshan, once per process. It stays loaded. */
int tfd_darshan_load(const struct tfd_darshan_options *options);
/* Open two files through libdarshan, and find these calls in its records, which proves that their layout is known. */
int tfd_darshan_record_opens(const char *first, const char *second);
int tfd_darshan_check_trial(const char *first, const char *second);
int tfd_darshan_describe(struct tfd_darshan_info *info);
/* Return the last session's records, packed. at_stop: 0 or 1; module: 0 POSIX, 1 STDIO. */
const void *tfd_darshan_records(int at_stop, int module, uint64_t *count);
int tfd_darshan_stop_status(void);       /* 0, or -errno if there are none at stop */
uint64_t tfd_darshan_torn_records(void); /* records that kept changing while they were copied */
void tfd_darshan_release_snapshots(void);
const char *tfd_darshan_record_name(uint64_t id);

/* ---- staged files: while a session records, opens for reading are redirected to their copies ---- */

struct tfd_staged_file {
    const char *original, *copy; /* absolute paths */
    int64_t size;
    int64_t original_mtime_ns, copy_mtime_ns;
};

/* Totals of the process, its forks, and the programs that have joined its session. */
struct tfd_redirect_totals {
    uint64_t copies;       /* opens that got a copy */
    uint64_t missing;      /* opens that got the original: the copy cannot be opened */
    uint64_t stale;        /* opens that got the original: original or copy has changed */
    uint64_t looked_ahead; /* originals that were found unchanged before anything opened them */
};

/* HERE_ONLY: programs that join the session open the originals, and tfd_last_error() says why. */
enum { TFD_REDIRECTED, TFD_REDIRECTED_HERE_ONLY };

/* Return one of these, or -errno. An original that was checked less than `trusted_ns` ago is not checked again, unless
 * the job itself may have changed it. */
int tfd_redirect_start(const struct tfd_staged_file *files, size_t count, int64_t trusted_ns);
/* Have up to `most` processes of our own check the originals that were not checked yet, for `for_ns`. Returns at once,
 * and nothing waits for these processes. Useless if `trusted_ns` is 0. Call this before a program begins: the first
 * process is a fork of this one. */
void tfd_redirect_look_ahead(int32_t most, int64_t for_ns);
void tfd_redirect_stop(void);
void tfd_redirect_totals(struct tfd_redirect_totals *totals);

/* ---- hooks, for doctor and tests ---- */

size_t tfd_hook_count(void);
const char *tfd_hook_name(size_t hook);
const char *tfd_hook_operation(size_t hook);
int tfd_hook_available(size_t hook);       /* 1: this libc defines the symbol */
uint64_t tfd_hook_slots(size_t hook);      /* slots patched for it now */
uint64_t tfd_slots_holding_wrappers(void); /* by a scan of all objects; 0 when detached */

/* ---- reading a spool: after stop, after a crash, or of a live child ---- */

struct tfd_reader;

/* Why a spool got no more room: the memory cap or the file system, or the memory of a control group. */
enum tfd_full { TFD_FULL_NOT, TFD_FULL_CAP, TFD_FULL_MEMORY };
/* How a process may have read and written files without calls of the C library. */
enum tfd_bypass { TFD_BYPASS_IO_URING = 1, TFD_BYPASS_AIO = 2, TFD_BYPASS_CUFILE = 4 };
enum { TFD_OVERFLOW_NAMES = 1048576 }; /* files beyond the memory cap that are counted once each */

struct tfd_spool_info {
    int32_t pid, parent_pid;
    uint32_t stopped; /* 0: the process ended without stopping the session */
    uint32_t mount_count;
    char host[64];
    char command[4104]; /* for a shell; cut where it ends in "..." */
    int64_t start_realtime_ns;
    int64_t duration_ns; /* start to stop, or to the last event */
    uint64_t threads;
    uint64_t files;     /* real files seen */
    uint64_t file_rows; /* rows of tfd_reader_files(): one per file and module */
    uint64_t events;    /* calls recorded as events */
    uint64_t segments;  /* of these, in the trace */
    uint64_t events_dropped;
    uint64_t files_over_cap; /* files that share one row, counted up to TFD_OVERFLOW_NAMES */
    uint64_t spool_bytes;
    uint32_t spool_full;  /* enum tfd_full */
    uint32_t damaged;     /* parts that could not be read were left out */
    int64_t kernel_valid; /* 1: both snapshots of /proc/self/io were taken */
    int64_t rchar, wchar, syscr, syscw, read_bytes, write_bytes; /* kernel, over the session */
    int64_t earlier_rchar, earlier_wchar;                        /* kernel, until recording began */
    int64_t earlier_read_bytes, earlier_write_bytes;
    int64_t own_rchar, own_wchar; /* of the recorder itself, which the kernel counts too */
    int64_t uncounted;            /* 1: the kernel adds the process's figures to no other process */
    int64_t io_ns, read_ns, write_ns, meta_ns; /* wall time: unions of the calls' intervals */
    int64_t thread_ns;                         /* thread time: the calls' durations added up */
    int64_t first_event_ns, last_event_ns;     /* relative to start */
    int64_t
        first_dropped_ns; /* start of the first call that is not in the trace; -1: the trace has all calls */
    uint64_t capacity_bytes, trace_limit_bytes; /* options of the session */
};

/* The process that a spool belongs to. */
struct tfd_process_identity {
    int32_t pid, parent_pid;
    int32_t joined;         /* not 0: a started program that joined the session, not a fork */
    uint64_t process_start; /* clock ticks since boot, 0 = unknown */
    int64_t start_realtime_ns, start_monotonic_ns;
    char arguments[1024]; /* of the command line, each with its NUL, cut to this size */
};

struct tfd_thread_info {
    int32_t tid;
    char name[16];
    uint64_t events;
    uint64_t events_dropped;
    int64_t other[7][5]; /* enum tfd_other_kind x reads, bytes_read, writes, bytes_written, other_calls */
};

struct tfd_mount_info {
    const char *point;
    const char *fs_type;
    const char *source;
    uint32_t block_size;
};

struct tfd_failure {
    int32_t operation;
    int32_t error; /* errno */
    uint64_t calls;
};

/* Read the identity from the head of the file; return 0, or -errno with tfd_last_error(). */
int tfd_spool_identity(const char *path, struct tfd_process_identity *identity);
struct tfd_mapping_info { /* how reads through mapped files were watched */
    uint64_t files;       /* mapped files */
    uint32_t watch;       /* 1: page faults were events; others: see tfd_mapping_watch_name() */
    int32_t error;        /* errno if events were refused */
    uint64_t faults;      /* events, also of faults on other memory */
    uint64_t samples_lost, samples_unpaired;
    uint64_t mappings_lost;             /* mappings without known addresses: their faults belong to no file */
    uint64_t mappings_left_out;         /* mappings of files that there was no room for */
    uint64_t faults_kept;               /* faults on mapped files, in tfd_reader_faults() */
    uint64_t faults_left_out;           /* faults that there was no room for */
    uint32_t settled;                   /* 0: the process was killed before the last look */
    int64_t watched_ns, sampled_ns;     /* time watched; part of it in which faults were events */
    int64_t minor_faults, major_faults; /* of the process while it was watched, by getrusage(2) */
    int64_t sampled_faults;             /* of these, while faults were events */
    int64_t cost_ns;                    /* estimated cost of watching */
    uint64_t looks;                     /* samples of threads, if faults were not events */
    int64_t blocked_ns,
        blocked_busy_ns; /* waits in these samples, over threads and as wall time; lower bounds */
};

/* Open a private copy of a spool; return NULL if it is not a spool, of a newer version or unreadable. Never writes the
 * file. */
struct tfd_reader *tfd_reader_open(const char *path);
void tfd_reader_close(struct tfd_reader *reader);
/* Return the number of files of which libdarshan missed more than stat() calls, with the darshan engine; -1 if part of
 * the trace was dropped, so that they cannot be folded again. */
int64_t tfd_reader_partly_seen(struct tfd_reader *reader);
/* Open the spool of `whole` again, with these files' counters without the calls that libdarshan did not see; return
 * NULL on failure. */
struct tfd_reader *tfd_reader_open_seen(struct tfd_reader *whole, const char *path);
/* Fill `operations` with the operations that libdarshan missed, a bit each, for `rows` rows of the files table. */
void tfd_reader_unseen_operations(struct tfd_reader *reader, const uint32_t *file, const uint8_t *module,
                                  size_t rows, uint32_t *operations);
int tfd_reader_info(struct tfd_reader *reader, struct tfd_spool_info *info);
/* Return 0 if no file was mapped. */
int tfd_reader_mapping_info(struct tfd_reader *reader, struct tfd_mapping_info *info);
/* Return the name of a value of `watch`: "watched", "no events" ... */
const char *tfd_mapping_watch_name(uint32_t watch);
int tfd_reader_thread(struct tfd_reader *reader, uint64_t index, struct tfd_thread_info *info);
/* Return 1 for a started program that joined the session, 2 if the library for programs did that, 0 for a fork. */
int tfd_reader_joined(struct tfd_reader *reader);
/* Return the programs that the process started, or became, as another user. They may not record themselves. */
uint32_t tfd_reader_other_user_programs(struct tfd_reader *reader);
/* Return the opens that did not wait until the process had joined, and are not recorded. */
uint64_t tfd_reader_missed_opens(struct tfd_reader *reader);
/* Return the ways that the process had open to read and write unrecorded: values of enum tfd_bypass, added up. */
uint64_t tfd_reader_bypasses(struct tfd_reader *reader);
/* Of events folded while the process recorded: processor time of the thread that folds, and how many of them the
 * recording threads folded themselves, as it fell behind or could not be. */
void tfd_reader_folding(struct tfd_reader *reader, uint64_t *thread_ns, uint64_t *by_callers);
/* Tell which of the first 64 patterns of tfd_options have matched a path of this process, a bit each. */
void tfd_reader_patterns_met(struct tfd_reader *reader, uint64_t *include, uint64_t *exclude);
int tfd_reader_mount(struct tfd_reader *reader, uint64_t index, struct tfd_mount_info *info);
size_t tfd_reader_failures(struct tfd_reader *reader, struct tfd_failure *failures, size_t capacity);

/* Names, units and meanings of the columns of tfd_reader_files(), in order:
 * integers first (tfd_counter_count), then floats (tfd_f_counter_count). */
size_t tfd_counter_count(void);
const char *tfd_counter_name(size_t index);
const char *tfd_counter_unit(size_t index);
const char *tfd_counter_meaning(size_t index);
size_t tfd_f_counter_count(void);
const char *tfd_f_counter_name(size_t index);
const char *tfd_f_counter_unit(size_t index);
const char *tfd_f_counter_meaning(size_t index);

struct tfd_file_batch {  /* caller's arrays, `rows` long (counters: rows x count, row major) */
    uint32_t *file;      /* file id, the same as in events */
    uint8_t *module;     /* 0 POSIX, 1 STDIO, 2 MMAP */
    int32_t *mount;      /* index of tfd_reader_mount(), -1 if unknown */
    int64_t *size_bytes; /* file size if a call showed it, else -1 */
    int64_t *counters;
    double *f_counters; /* timestamps in s since session start, durations in s */
};

/* Fill rows first .. first+rows-1; return the number of rows filled. */
size_t tfd_reader_files(struct tfd_reader *reader, uint64_t first, size_t rows, struct tfd_file_batch *batch);
/* Return Darshan's id of a file: the hash of its path. */
uint64_t tfd_reader_record_id(struct tfd_reader *reader, uint32_t file);
/* Return the path of a file id: *length bytes without a NUL, not necessarily UTF-8. */
const char *tfd_reader_path(struct tfd_reader *reader, uint32_t file, size_t *length);

struct tfd_event_batch { /* caller's arrays, `rows` long */
    int64_t *start_ns;   /* since session start */
    int64_t *end_ns;
    int32_t *tid;
    uint8_t *operation;
    uint8_t *flags;
    int16_t *error;
    uint32_t *file;
    int64_t *offset;
    int64_t *length;
};

/* Fill segments first .. first+rows-1 in order of start; return the number of rows filled. */
size_t tfd_reader_events(struct tfd_reader *reader, uint64_t first, size_t rows,
                         struct tfd_event_batch *batch);

/* The calls that the timeline shows after the trace is full. */
struct tfd_thinned_info {
    uint64_t calls;
    int64_t
        resolution_ns; /* all calls of this duration or longer are there; of shorter ones on average one for each such
                              time that they took; 0: all calls are there */
};

void tfd_reader_thinned_info(struct tfd_reader *reader, struct tfd_thinned_info *info);
/* Fill thinned calls like tfd_reader_events(), which has none of them. */
size_t tfd_reader_thinned(struct tfd_reader *reader, uint64_t first, size_t rows,
                          struct tfd_event_batch *batch);

enum { TFD_UNTRACED_BINS = 2000 };

/* What calls without a segment did in equal parts of the time. Bytes of a call are spread evenly over its duration. */
struct tfd_untraced_batch {
    int64_t *start_ns, *end_ns, *calls, *bytes_read, *bytes_written, *busy_ns;
};

/* Fill bins from number `first` on; return how many. There are none if the spool does not say all of it. */
size_t tfd_reader_untraced(struct tfd_reader *reader, uint64_t first, size_t rows,
                           struct tfd_untraced_batch *batch);

/* Fill page faults on mapped files in order of their ends; return the number of rows filled. `operation` has no
 * meaning, `flags` has 32 set if the fault read from storage, `length` is the page's. */
size_t tfd_reader_faults(struct tfd_reader *reader, uint64_t first, size_t rows,
                         struct tfd_event_batch *batch);

size_t tfd_operation_count(void);
const char *tfd_operation_name(size_t operation);
const char *tfd_operation_module(size_t operation); /* "POSIX" or "STDIO" */
const char *tfd_operation_class(size_t operation);  /* "read", "write" or "meta" */
const char *tfd_other_kind_name(size_t kind);

/* ---- sessions of TensorFlow's profiler: this library is a plug-in of it too ---- */

struct tfd_tf_report {
    uint64_t session;  /* number of TensorFlow's session in this process */
    int32_t joined;    /* 1: a recording ran already, and the session is its part from start_ns to end_ns */
    int32_t recording; /* 1: we record for this session now */
    int64_t start_ns, end_ns; /* since the recording's start */
    uint64_t events, left_out;
    char mark[40]; /* also in the trace's plane: identifies this session's trace file */
};

int tfd_tf_registered(void); /* 1: TensorFlow took the plug-in */
/* Record TensorFlow's sessions from now on, into options.spool_directory. */
int tfd_tf_enable(const struct tfd_options *options, uint64_t smallest_bytes, uint64_t max_events);
void tfd_tf_disable(void);
/* 1: the recording becomes a session of its own beside TensorFlow's, so the trace need not contain it. */
void tfd_tf_session_written(int is_written);
int tfd_tf_last_session(struct tfd_tf_report *report);

/* ---- Darshan's log files ---- */

/* Return Darshan's id of a record: the hash of its name, which is the path for a file. */
uint64_t tfd_record_id(const char *path, size_t length);

#endif
