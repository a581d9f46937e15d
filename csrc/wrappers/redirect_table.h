/* The staged files of a plan by their paths, in memory or in a session's folder for programs that join. A table is
 * never unmapped, since a thread may be reading it. */
#ifndef TFD_REDIRECT_TABLE_H
#define TFD_REDIRECT_TABLE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "tfdarshan.h"

/* A file's record, followed by its two paths, each with its NUL, so that an open reads one place. */
struct tfd_redirected {
    int64_t size, original_mtime_ns, copy_mtime_ns;
    uint64_t number, offset;    /* index among the table's files, and bytes from the table's beginning */
    _Atomic uint64_t copy_kept; /* the copy's file in this process's spool, see tfd_record_open_again */
    size_t original_length;
    char names[];
};

/* Counts of all processes that use the table; `ahead`: checks that the job's opens need not make. */
struct tfd_redirect_counts {
    _Atomic uint64_t copies, missing, stale, ahead;
};

/* State of processes that check ahead: the place of the next file, 0 after the last, and how many were started. */
struct tfd_look_ahead {
    _Atomic uint32_t next, stopped;
    _Atomic int32_t lookers;
};

struct tfd_redirect_table;

/* Make a table in a session's folder, or for this process and its forks if `directory` is NULL; return NULL with errno
 * if that fails. A check of an original holds for `trusted_ns`. */
struct tfd_redirect_table *tfd_redirect_table_make(const char *directory, const struct tfd_staged_file *files,
                                                   size_t count, int64_t trusted_ns);
/* Map the table of a session's folder; return NULL if there is none. */
struct tfd_redirect_table *tfd_redirect_table_take_up(const char *directory);
/* Remove the table from the folder, so that programs that join later find none. */
void tfd_redirect_table_withdraw(const char *directory);

struct tfd_redirect_counts *tfd_redirect_table_counts(const struct tfd_redirect_table *table);
struct tfd_look_ahead *tfd_redirect_table_ahead(const struct tfd_redirect_table *table);
/* Find a file by a path that is absolute, or relative to the current folder; return NULL if it has no copy. */
struct tfd_redirected *tfd_redirect_table_find(const struct tfd_redirect_table *table, const char *path);
/* Iterate over a table's files: the place of the first record, and the file at a place with the place of the next
 * one; 0 means none. */
uint32_t tfd_redirect_table_first(const struct tfd_redirect_table *table);
struct tfd_redirected *tfd_redirect_table_at(const struct tfd_redirect_table *table, uint32_t at,
                                             uint32_t *next);

/* Return the beginning of the last check that found the original unchanged, by any process, 0 if there was none. The
 * clock is CLOCK_BOOTTIME, which goes on while the machine sleeps. */
_Atomic int64_t *tfd_redirect_table_last_look(struct tfd_redirected *file);
/* In place of that time, once the job itself may change the original: no check holds any more. */
#define TFD_NO_LOOK_HOLDS (-1)
/* For all originals below a folder. */
void tfd_redirect_table_no_look_holds_below(const struct tfd_redirect_table *table, const char *folder);
int64_t tfd_redirect_table_trusted_ns(const struct tfd_redirected *file);

#endif
