/* The whole C interface: the only header cffi reads, which drops its preprocessor lines: plain declarations only.
 * Functions that can fail return 0 or a negative errno, and leave a sentence in tfd_last_error(). */

#ifndef TFD_TFDARSHAN_H
#define TFD_TFDARSHAN_H

#include <stddef.h>
#include <stdint.h>

/* ---- session: attach, record, detach ---- */

enum {
    TFD_MAPPED_ALL = 1,
    TFD_MAPPED_LARGE =
        2 /* where a file of storage is mapped for at least TFD_MAPPED_LARGE_BYTES, and a thread more
                            changes nothing for the process: it has several, and no system call filter */
};
enum { TFD_MAPPED_LARGE_BYTES = 67108864 };

struct tfd_options {
    const char *spool_directory; /* exists, writable; one file <pid>.spool per process is made in it */
    uint64_t capacity_bytes;     /* memory cap of one process's spool */
    uint64_t trace_limit_bytes;  /* of these, at most so many for segments; 0 = no trace */
    const char *const *include;  /* path patterns; a match here wins over exclude */
    size_t include_count;
    const char *const *exclude;
    size_t exclude_count;
    size_t exclude_followed; /* the first so many of these: whether a path met them is noted, as of include */
    int follow_children;     /* record forked children too */
    int darshan;             /* calls pass the libdarshan that was loaded or adopted */
    int mapped; /* watch page faults on mapped files, and what comes in for them: by a thread. TFD_MAPPED_ALL,
                   or TFD_MAPPED_LARGE, or 0 */
    const char
        *program_library; /* records programs without Python that this process starts; NULL: none does */
};

struct tfd_attach_report {
    uint64_t objects_scanned;
    uint64_t relocations_scanned;
    uint64_t slots_patched; /* holding our wrappers now */
    uint64_t slots_foreign; /* held somebody else's pointer: left alone */
    uint64_t slots_refused; /* page could not be made writable */
    uint64_t objects_pinned;
    uint64_t slots_restored; /* detach only */
    uint64_t elapsed_ns;
};

enum { TFD_MEMORY_SHARE = 8 }; /* a recording takes at most one part in so many of the memory that is left */

struct tfd_memory_left { /* bytes, UINT64_MAX where nothing limits them */
    uint64_t cgroup;     /* by the control groups of this process; page cache of files counts as left */
    uint64_t address_space,
        lockable; /* by RLIMIT_AS; by RLIMIT_MEMLOCK, if all that is mapped could be locked */
};

/* `root` comes before the names of the kernel's files: "", but in tests. */
void tfd_memory_left(const char *root, struct tfd_memory_left *left);
int tfd_folder_is_memory(const char *path); /* 1: what a file there holds is memory of a control group */

int tfd_session_start(const struct tfd_options *options, struct tfd_attach_report *report);
int tfd_session_stop(struct tfd_attach_report *report);
/* In a process that was started while a session records: has it recorded into the spools in that folder, which its
 * environment names (TFDARSHAN_SESSION). 0 also where it is recorded already. */
int tfd_session_join(const char *spool_directory);
/* Has sessions that begin later recorded in this process, too, when one of its ancestors starts them and follows its
 * children: from its next open or read on. `interpreter` is an address in the library that makes these calls. */
void tfd_job_wait_for_sessions(const void *interpreter);
/* The same, in place of the library that waits so far: `found` says what a slot of its held before. */
void tfd_job_take_over(const void *interpreter, void *(*found)(void **slot));
/* The same, where a session may record already that this process has not joined. */
void tfd_job_meet(const void *interpreter);
/* Names this process's job in its environment, so that programs which it starts wait for its sessions; children that
 * it forks do so too. */
void tfd_job_begin(const void *interpreter);
int tfd_session_active(void);
/* As tfd_session_join, in an interpreter that the library for programs has recorded from its start: that one leaves it,
 * and what it recorded is kept. -ENOENT where it does not record this process. */
int tfd_session_take_over(const char *spool_directory);
/* The kernel's count of what this process read so far; -1 each where /proc/self/io cannot be read. */
void tfd_kernel_reads(int64_t *rchar, int64_t *read_bytes);
const char *tfd_last_error(void);
/* Has the process end by SIGINT instead of exiting, once all that Python does at its end is done. */
int tfd_end_by_interrupt(void);

/* ---- storage emulation: calls on chosen paths last as long as on another device ---- */

enum { TFD_STORAGE_PLACES = 64 };

struct tfd_storage_model { /* what is 0 takes no time */
    uint64_t open_ns, read_ns, write_ns;
    uint64_t empty_read_ns, stat_ns, sync_ns; /* a read that returns nothing; by path; of a file */
    uint32_t concurrency;                     /* calls that pay these at once */
    uint64_t seek_ns[TFD_STORAGE_PLACES];     /* with 1, 2, 3 ... calls under way */
    uint64_t read_bytes_per_s, write_bytes_per_s;
};

struct tfd_emulation_totals { /* of the last session's device, by all processes of the session */
    uint64_t calls;           /* that the device served */
    uint64_t delayed_calls;   /* of these, made to wait */
    uint64_t delayed_ns;      /* added up over threads */
    uint64_t modelled_ns;     /* calls' durations by the model, queueing included, added up */
};

/* For the next session only; NULL: none. Paths are patterns as those of tfd_options; none: all that is recorded. */
int tfd_emulate(const struct tfd_storage_model *model, const char *const *paths, size_t path_count);
void tfd_emulation_totals(struct tfd_emulation_totals *totals);

/* ---- the darshan engine: an unmodified libdarshan counts too ---- */

struct tfd_darshan_options {
    const char *path;        /* of libdarshan, or a name for the dynamic loader */
    const char *config_path; /* its configuration file */
    uint64_t name_bytes;     /* NAMEMEM of that file */
};

struct tfd_darshan_info {
    char path[4096];
    char log_version[16];
    char version[32];
    int32_t foreign;          /* 1: somebody else loaded it, it is only read */
    int32_t wrapped;          /* hooked symbols it wraps */
    double clock_offset_s;    /* CLOCK_REALTIME of its time 0 */
    uint64_t nested_calls;    /* made by signal handlers inside it, which it did not see */
    uint64_t records_left[2]; /* POSIX, STDIO: room for so many more; all bits set before the first */
};

/* Looks for a libdarshan in the process: 1 taken up, 0 there is none. */
int tfd_darshan_adopt(void);
/* Loads and initialises libdarshan, once per process. It stays. */
int tfd_darshan_load(const struct tfd_darshan_options *options);
/* Opens two files through it, and finds these calls in its records: the proof that their layout is known. */
int tfd_darshan_record_opens(const char *first, const char *second);
int tfd_darshan_check_trial(const char *first, const char *second);
int tfd_darshan_describe(struct tfd_darshan_info *info);
/* The last session's records, packed: at_stop 0 or 1, module 0 POSIX, 1 STDIO. */
const void *tfd_darshan_records(int at_stop, int module, uint64_t *count);
int tfd_darshan_stop_status(void);       /* 0, or why there are none at stop */
uint64_t tfd_darshan_torn_records(void); /* that never stood still while they were copied */
void tfd_darshan_release_snapshots(void);
const char *tfd_darshan_record_name(uint64_t id);

/* ---- staged files: while a session records, opens for reading are led to their copies ---- */

struct tfd_staged_file {
    const char *original, *copy; /* absolute paths */
    int64_t size;
    int64_t original_mtime_ns, copy_mtime_ns;
};

/* Of the process, all that it forked since, and the programs that joined its session since. */
struct tfd_redirect_totals {
    uint64_t copies;       /* opens that got a copy */
    uint64_t missing;      /* that got the original: the copy cannot be opened */
    uint64_t stale;        /* that got the original: it or the copy changed since */
    uint64_t looked_ahead; /* originals that were found as they were copied before anything opened them */
};

/* HERE_ONLY: programs that join the session open the originals, and tfd_last_error() says why. */
enum { TFD_REDIRECTED, TFD_REDIRECTED_HERE_ONLY };

/* One of these, or -errno. An original that was looked at less than `trusted_ns` ago is not looked at again, unless
 * the job itself may have changed it since. */
int tfd_redirect_start(const struct tfd_staged_file *files, size_t count, int64_t trusted_ns);
/* Has up to `most` processes of our own look at the originals that nobody has looked at, for so long. It returns at once,
 * and nothing waits for them. Useless where no look holds (`trusted_ns` 0). To be called before a program begins: the
 * first of them is a fork of the process. */
void tfd_redirect_look_ahead(int32_t most, int64_t for_ns);
void tfd_redirect_stop(void);
void tfd_redirect_totals(struct tfd_redirect_totals *totals);

/* ---- hooks, for doctor and tests ---- */

size_t tfd_hook_count(void);
const char *tfd_hook_name(size_t hook);
const char *tfd_hook_operation(size_t hook);
int tfd_hook_available(size_t hook);       /* 1: this libc defines the symbol */
uint64_t tfd_hook_slots(size_t hook);      /* slots patched for it now */
uint64_t tfd_slots_holding_wrappers(void); /* scan of all objects: 0 when detached */

/* ---- reading a spool: after stop, after a crash, or of a live child ---- */

struct tfd_reader;

/* What refused a spool more room: a bound that was set, or the file system; or the memory of a control group. */
enum tfd_full { TFD_FULL_NOT, TFD_FULL_CAP, TFD_FULL_MEMORY };
enum { TFD_OVERFLOW_NAMES = 1048576 }; /* so many files beyond the memory cap are told apart */

struct tfd_spool_info {
    int32_t pid, parent_pid;
    uint32_t stopped; /* 0: the process ended without stopping the session */
    uint32_t mount_count;
    char host[64];
    char command[1024];
    int64_t start_realtime_ns;
    int64_t duration_ns; /* start to stop, or to the last event */
    uint64_t threads;
    uint64_t files;     /* real files seen */
    uint64_t file_rows; /* rows tfd_reader_files gives: one per file and module */
    uint64_t events;    /* calls recorded as events */
    uint64_t segments;  /* of these, still in the trace */
    uint64_t events_dropped;
    uint64_t files_over_cap; /* files that share one row, each once, up to TFD_OVERFLOW_NAMES */
    uint64_t spool_bytes;
    uint32_t spool_full;  /* enum tfd_full */
    uint32_t damaged;     /* parts that could not be read were left out */
    int64_t kernel_valid; /* 1: both snapshots of /proc/self/io were taken */
    int64_t rchar, wchar, syscr, syscw, read_bytes, write_bytes; /* kernel, over the session */
    int64_t earlier_rchar, earlier_wchar;                        /* kernel, until recording began */
    int64_t earlier_read_bytes, earlier_write_bytes;
    int64_t own_rchar, own_wchar;              /* of the recorder itself, which the kernel counts, too */
    int64_t uncounted;                         /* 1: the kernel adds the process's figures to nobody's */
    int64_t io_ns, read_ns, write_ns, meta_ns; /* unions of intervals: wall clock */
    int64_t thread_ns;                         /* all calls' durations added up */
    int64_t first_event_ns, last_event_ns;     /* relative to start */
    int64_t first_dropped_ns; /* when the first call began that is not in the trace, -1: none is missing */
    uint64_t capacity_bytes, trace_limit_bytes; /* the bounds that it was recorded with */
};

/* Which process a spool is of. */
struct tfd_process_identity {
    int32_t pid, parent_pid;
    int32_t joined;         /* a program that was started and joined the session, not a fork */
    uint64_t process_start; /* clock ticks since boot, 0 = unknown */
    int64_t start_realtime_ns;
    char arguments[1024]; /* of its command line, each with its NUL, as far as they fit */
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

/* 0, or -errno with tfd_last_error(). Reads the head of the file alone. */
int tfd_spool_identity(const char *path, struct tfd_process_identity *identity);
struct tfd_mapping_info { /* how reads through mapped files were watched */
    uint64_t files;       /* that were mapped */
    uint32_t watch;       /* 1: page faults were events; others: see tfd_mapping_watch_name */
    int32_t error;        /* errno, where that was refused */
    uint64_t faults;      /* that were events, those on other memory too */
    uint64_t samples_lost, samples_unpaired;
    uint64_t mappings_lost;             /* whose addresses are not known: their faults are no file's */
    uint64_t mappings_left_out;         /* of files that there was no room for */
    uint64_t faults_kept;               /* on mapped files, that tfd_reader_faults gives */
    uint64_t faults_left_out;           /* that found no room there */
    uint32_t settled;                   /* 0: the process was killed before the last look */
    int64_t watched_ns, sampled_ns;     /* how long it was watched; how long of that faults were events */
    int64_t minor_faults, major_faults; /* of the process while it was watched, by getrusage */
    int64_t sampled_faults;             /* of these, while faults were events */
    int64_t cost_ns;                    /* of the watching, reckoned */
    uint64_t looks; /* where faults were no events: how often it was looked which threads are in one */
    int64_t blocked_ns, blocked_busy_ns; /* that was seen so: over threads, and overlaps once; lower bounds */
};

/* NULL on failure: not a spool, newer version, unreadable. Maps a private copy; never writes the file. */
struct tfd_reader *tfd_reader_open(const char *path);
void tfd_reader_close(struct tfd_reader *reader);
/* With the darshan engine. Files of which libdarshan missed more than stats: -1 where part of the trace was
 * dropped, so that they cannot be folded again. */
int64_t tfd_reader_partly_seen(struct tfd_reader *reader);
/* Opens the spool of `whole` again, with the counters of these files as they are without the calls that
 * libdarshan did not see. NULL on failure. */
struct tfd_reader *tfd_reader_open_seen(struct tfd_reader *whole, const char *path);
/* Which operations libdarshan missed, a bit each, of `rows` rows of the files table. */
void tfd_reader_unseen_operations(struct tfd_reader *reader, const uint32_t *file, const uint8_t *module,
                                  size_t rows, uint32_t *operations);
int tfd_reader_info(struct tfd_reader *reader, struct tfd_spool_info *info);
/* 0 where no file was mapped. */
int tfd_reader_mapping_info(struct tfd_reader *reader, struct tfd_mapping_info *info);
/* Names what `watch` says: "watched", "no events" ... */
const char *tfd_mapping_watch_name(uint32_t watch);
int tfd_reader_thread(struct tfd_reader *reader, uint64_t index, struct tfd_thread_info *info);
/* Which of the first 64 patterns of tfd_options met a path of this process: a bit each. */
/* 1: of a program that was started and joined the session, not of a fork; 2: which the library for programs did. */
int tfd_reader_joined(struct tfd_reader *reader);
/* Programs that the process started, or became, as another user: these may not record themselves. */
uint32_t tfd_reader_other_user_programs(struct tfd_reader *reader);
/* Opens that did not wait until the process had joined, and are not recorded. */
uint64_t tfd_reader_missed_opens(struct tfd_reader *reader);
void tfd_reader_patterns_met(struct tfd_reader *reader, uint64_t *include, uint64_t *exclude);
int tfd_reader_mount(struct tfd_reader *reader, uint64_t index, struct tfd_mount_info *info);
size_t tfd_reader_failures(struct tfd_reader *reader, struct tfd_failure *failures, size_t capacity);

/* Names, units and meanings of the columns tfd_reader_files fills, in order.
 * Integers first (tfd_counter_count), then floats (tfd_f_counter_count). */
size_t tfd_counter_count(void);
const char *tfd_counter_name(size_t index);
const char *tfd_counter_unit(size_t index);
const char *tfd_counter_meaning(size_t index);
size_t tfd_f_counter_count(void);
const char *tfd_f_counter_name(size_t index);
const char *tfd_f_counter_unit(size_t index);
const char *tfd_f_counter_meaning(size_t index);

struct tfd_file_batch {  /* caller's arrays, `rows` long (counters: rows x count, row major) */
    uint32_t *file;      /* file id, as in events */
    uint8_t *module;     /* 0 POSIX, 1 STDIO, 2 MMAP */
    int32_t *mount;      /* index of tfd_reader_mount, -1 unknown */
    int64_t *size_bytes; /* file size where a call showed it, else -1 */
    int64_t *counters;
    double *f_counters; /* timestamps in s since session start, durations in s */
};

/* Fills rows first .. first+rows-1, returns the number filled. */
size_t tfd_reader_files(struct tfd_reader *reader, uint64_t first, size_t rows, struct tfd_file_batch *batch);
/* Darshan's id of a file: the hash of its path. */
uint64_t tfd_reader_record_id(struct tfd_reader *reader, uint32_t file);
/* Path of a file id; *length bytes, any byte but NUL and not necessarily UTF-8. */
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

/* Segments sorted by start; fills first .. first+rows-1, returns the number filled. */
size_t tfd_reader_events(struct tfd_reader *reader, uint64_t first, size_t rows,
                         struct tfd_event_batch *batch);

/* Page faults on mapped files, one after the other as they ended; likewise. `operation` is none's; of `flags`
 * 32 is set where the fault began to read from storage; `length` is the page's. */
size_t tfd_reader_faults(struct tfd_reader *reader, uint64_t first, size_t rows,
                         struct tfd_event_batch *batch);

size_t tfd_operation_count(void);
const char *tfd_operation_name(size_t operation);
const char *tfd_operation_module(size_t operation); /* "POSIX" or "STDIO" */
const char *tfd_operation_class(size_t operation);  /* "read", "write" or "meta" */
const char *tfd_other_kind_name(size_t kind);

/* ---- sessions of TensorFlow's profiler: this library is a plug-in of it too ---- */

struct tfd_tf_report {
    uint64_t session;  /* counts TensorFlow's sessions of this process */
    int32_t joined;    /* 1: a recording ran already, and the session is the part from start_ns to end_ns */
    int32_t recording; /* 1: we record for this session now */
    int64_t start_ns, end_ns; /* since the recording's start */
    uint64_t events, left_out;
    char mark[40]; /* in the trace's plane too: tells whose trace a file is */
};

int tfd_tf_registered(void); /* 1: TensorFlow took the plug-in */
/* From now on TensorFlow's sessions are recorded: options.spool_directory is the folder that gets the spools. */
int tfd_tf_enable(const struct tfd_options *options, uint64_t smallest_bytes, uint64_t max_events);
void tfd_tf_disable(void);
/* 1: the running recording becomes a session of its own beside TensorFlow's, so the trace need not carry it. */
void tfd_tf_session_written(int is_written);
int tfd_tf_last_session(struct tfd_tf_report *report);

/* ---- Darshan's log files ---- */

/* Darshan's id of a record: a hash of its name, which for a file is its path. */
uint64_t tfd_record_id(const char *path, size_t length);

#endif
