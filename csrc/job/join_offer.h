/* What a process needs that joins a session at its start: written by the session's owner into the spool folder. */
#ifndef TFD_JOIN_OFFER_H
#define TFD_JOIN_OFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tfdarshan.h"

#define TFD_JOIN_OFFER_NAME "join"
#define TFD_JOIN_CORE_NAME "core" /* a link to the library that is to be loaded: put there before */
#define TFD_JOIN_UNSEEN_NAME                                                                                 \
    "unseen" /* a list of programs that were started and cannot be recorded: put there before */

struct tfd_join_offer {
    char magic[8];
    uint32_t version; /* of the spools: who joins runs the same core */
    int32_t owner_pid;
    uint64_t owner_start;   /* /proc/<pid>/stat, field 22: a number may be another process's by now */
    uint64_t pid_namespace; /* inode of /proc/self/ns/pid: in another one the owner's number means nobody */
    uint64_t capacity_bytes, trace_limit_bytes;
    uint32_t include_count, exclude_count, exclude_followed;
    uint32_t mapped; /* as tfd_options.mapped */
    uint32_t text_bytes;
    char
        text[]; /* each with its NUL: the patterns, included ones first, and the library for programs or "" */
};

/* Finds the library that is to be loaded: where its path cannot be named, by the link to it. False where none was put
 * there. */
bool tfd_join_offer_core(const char *directory, char *path, size_t capacity);
/* Writes it into the spool folder, under another name first. 0 or -errno with tfd_last_error(). */
int tfd_join_offer_write(const struct tfd_options *options);
/* Maps it; NULL where there is none that can be taken: it is damaged, another version's or of another namespace; errno is
 * ESRCH where its owner has ended. */
const struct tfd_join_offer *tfd_join_offer_map(const char *directory, size_t *mapped_bytes);
/* Fills an array of the offer's include and then exclude patterns; returns the library for programs, or NULL. */
const char *tfd_join_offer_patterns(const struct tfd_join_offer *offer, const char **patterns);

#endif
