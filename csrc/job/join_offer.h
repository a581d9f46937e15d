/* What a starting process needs to join a session. The session's owner writes it into the spool folder. */
#ifndef TFD_JOIN_OFFER_H
#define TFD_JOIN_OFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tfdarshan.h"

#define TFD_JOIN_OFFER_NAME "join"
#define TFD_JOIN_CORE_NAME "core" /* a link to the library to load, made before the offer */
#define TFD_JOIN_UNSEEN_NAME                                                                                 \
    "unseen" /* the list of started programs that cannot be recorded, made before the offer */

struct tfd_join_offer {
    char magic[8];
    uint32_t version; /* TFD_SPOOL_VERSION: a process that joins runs the same core */
    int32_t owner_pid;
    uint64_t owner_start;   /* /proc/<pid>/stat, field 22: tells a later process of that number */
    uint64_t pid_namespace; /* inode of /proc/self/ns/pid: the number is valid in it only */
    uint64_t capacity_bytes, trace_limit_bytes;
    uint32_t include_count, exclude_count, exclude_followed;
    uint32_t mapped; /* as tfd_options.mapped */
    uint32_t text_bytes;
    char text[]; /* each with its NUL: patterns, included ones first; the library for programs, or "" */
};

/* Find the library to load, by the link to it if its path cannot be named; return false if there is none. */
bool tfd_join_offer_core(const char *directory, char *path, size_t capacity);
/* Write the offer into the spool folder, under another name first; return 0, or -errno with tfd_last_error(). */
int tfd_join_offer_write(const struct tfd_options *options);
/* Map the offer; return NULL if there is none, it is damaged, or its version or namespace is another. errno is ESRCH if
 * its owner has ended. */
const struct tfd_join_offer *tfd_join_offer_map(const char *directory, size_t *mapped_bytes);
/* Fill an array with the offer's include and then exclude patterns; return the library for programs, or NULL. */
const char *tfd_join_offer_patterns(const struct tfd_join_offer *offer, const char **patterns);

#endif
