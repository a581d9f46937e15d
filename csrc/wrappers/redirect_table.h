/* The staged files of a plan, found by their paths: in memory, or in a session's folder, where programs that join
 * find them too. A table is never given back: a thread may be looking at it. */
#ifndef TFD_REDIRECT_TABLE_H
#define TFD_REDIRECT_TABLE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "tfdarshan.h"

/* Followed by the two names, each with its NUL: what an open needs lies together. */
struct tfd_redirected {
    int64_t size, original_mtime_ns, copy_mtime_ns;
    uint64_t number, offset;    /* among the table's files, and in bytes from the table's beginning */
    _Atomic uint64_t copy_kept; /* which file this process's recorder knows the copy as */
    size_t original_length;
    char names[];
};

/* Of all processes that use the table; `ahead` are looks that the job's opens need not make. */
struct tfd_redirect_counts {
    _Atomic uint64_t copies, missing, stale, ahead;
};

/* What processes that look ahead share: the place of the next file, 0 after the last one, and how many were started. */
struct tfd_look_ahead {
    _Atomic uint32_t next, stopped;
    _Atomic int32_t lookers;
};

struct tfd_redirect_table;

/* Makes one: in a session's folder, or, with NULL, for this process and its forks. NULL where it cannot, with errno.
 * What a look at an original found holds for `trusted_ns`. */
struct tfd_redirect_table *tfd_redirect_table_make(const char *directory, const struct tfd_staged_file *files,
                                                   size_t count, int64_t trusted_ns);
/* Takes up the one in a session's folder; NULL: there is none. */
struct tfd_redirect_table *tfd_redirect_table_take_up(const char *directory);
/* Programs that join from now on find none there. */
void tfd_redirect_table_withdraw(const char *directory);

struct tfd_redirect_counts *tfd_redirect_table_counts(const struct tfd_redirect_table *table);
struct tfd_look_ahead *tfd_redirect_table_ahead(const struct tfd_redirect_table *table);
/* By a path that is absolute, or in the folder that this process was in when it made or took up the table. NULL:
 * it has no copy. */
struct tfd_redirected *tfd_redirect_table_find(const struct tfd_redirect_table *table, const char *path);
/* All of a table's files, one after the other: where the first one's record is, and the file at such a place with
 * the place of the next one. 0: there is none. */
uint32_t tfd_redirect_table_first(const struct tfd_redirect_table *table);
struct tfd_redirected *tfd_redirect_table_at(const struct tfd_redirect_table *table, uint32_t at,
                                             uint32_t *next);

/* When the last look at the file's original began that found it as it was copied, CLOCK_BOOTTIME: of all processes
 * that use the table, and so of one clock, which goes on while the machine sleeps. 0: there was none. */
_Atomic int64_t *tfd_redirect_table_last_look(struct tfd_redirected *file);
/* It stands there instead of a time once the job itself may change the original: no look holds any more. */
#define TFD_NO_LOOK_HOLDS (-1)
int64_t tfd_redirect_table_trusted_ns(const struct tfd_redirected *file);

#endif
