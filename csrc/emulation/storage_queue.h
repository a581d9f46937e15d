/* A storage device that is not there: how long a call on it would take, and
 * waiting for as long. One device serves all threads, forked children and programs that join. */
#ifndef TFD_STORAGE_QUEUE_H
#define TFD_STORAGE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "tfdarshan.h"

struct tfd_request {
    uint64_t arrival_ns; /* of the call, CLOCK_MONOTONIC */
    uint32_t file;       /* which file, to know what goes on where the last request ended */
    int64_t offset;      /* where it began; -1: right after this file's last request */
    uint64_t bytes;
    bool writes;
};

/* Empties the device's queue and begins with another model. 0 or -errno. */
int tfd_storage_reset(const struct tfd_storage_model *model);
/* Moves the device, before its first call, into the first TFD_STORAGE_BYTES of a file; uses the one that is there.
 * 0 or -errno. */
enum { TFD_STORAGE_BYTES = 4096 };
int tfd_storage_share(int fd);
int tfd_storage_join(int fd);
/* No call waits from now on, in no process. */
void tfd_storage_close(void);
/* How many files were there before. */
uint32_t tfd_storage_new_file(void);
uint64_t tfd_storage_now(void);
/* Calls that move nothing. */
enum tfd_storage_question { TFD_ASK_OPEN, TFD_ASK_END_OF_FILE, TFD_ASK_STAT, TFD_ASK_SYNC };
/* Return once the device would have served the call. They keep errno. */
void tfd_storage_ask(enum tfd_storage_question question, uint64_t arrival_ns);
void tfd_storage_transfer(const struct tfd_request *request);
void tfd_storage_totals(struct tfd_emulation_totals *totals);

#endif
