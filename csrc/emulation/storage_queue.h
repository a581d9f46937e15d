/* A simulated storage device: how long a call on it takes, and waiting for as
 * long. One device serves all threads, forked children and programs that join. */
#ifndef TFD_STORAGE_QUEUE_H
#define TFD_STORAGE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "tfdarshan.h"

struct tfd_request {
    uint64_t arrival_ns; /* of the call, CLOCK_MONOTONIC */
    uint32_t file;       /* which file, to find requests that go on where the last one ended */
    int64_t offset;      /* where the request begins; -1: after this file's last request */
    uint64_t bytes;
    bool writes;
};

/* Empty the device's queue and begin with another model; return 0 or -errno. */
int tfd_storage_reset(const struct tfd_storage_model *model);
/* Move the device, before its first call, into the first TFD_STORAGE_BYTES of a file, or use the device that is there;
 * return 0 or -errno. */
enum { TFD_STORAGE_BYTES = 4096 };
int tfd_storage_share(int fd);
int tfd_storage_join(int fd);
/* Let no call wait from now on, in any process. */
void tfd_storage_close(void);
/* Return the number of a new file. */
uint32_t tfd_storage_new_file(void);
uint64_t tfd_storage_now(void);
/* Calls that move no data. */
enum tfd_storage_question { TFD_ASK_OPEN, TFD_ASK_END_OF_FILE, TFD_ASK_STAT, TFD_ASK_SYNC };
/* These return once the device would have served the call. They keep errno. */
void tfd_storage_ask(enum tfd_storage_question question, uint64_t arrival_ns);
void tfd_storage_transfer(const struct tfd_request *request);
void tfd_storage_totals(struct tfd_emulation_totals *totals);

#endif
