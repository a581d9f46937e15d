/* Reads the values of records. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "offline/lmdb/environment.h"
#include "offline/lmdb/failure.h"
#include "offline/lmdb/mapped.h"
#include "offline/lmdb/record_check.h"
#include "offline/lmdb/scatter.h"
#include "offline/lmdb/values.h"

struct request {
    const struct tfd_lmdb *file;
    const uint64_t *numbers;
    char *const *to; /* NULL: values are read and dropped */
    size_t count;
    struct tfd_lmdb_piece *pieces;
    uint8_t (*heads)[TFD_LMDB_HEAD_BYTES]; /* headers of values with pages, by their place in `numbers` */
};

/* Check the numbers; return how many pieces they make, -1 on failure. */
static int64_t count_pieces(const struct request *request, struct tfd_lmdb_error *error)
{
    int64_t pieces = 0;
    for (size_t i = 0; i < request->count; i++) {
        if (tfd_lmdb_check_number(request->file, request->numbers[i], error))
            return -1;
        uint64_t size = request->file->found.records[request->numbers[i]].size;
        pieces += (int64_t)((size + TFD_LMDB_LARGEST_PIECE - 1) / TFD_LMDB_LARGEST_PIECE);
    }
    return pieces;
}

static size_t make_pieces(const struct request *request)
{
    size_t made = 0;
    for (size_t i = 0; i < request->count; i++) {
        const struct tfd_lmdb_record *record = &request->file->found.records[request->numbers[i]];
        uint8_t *place = request->to ? (uint8_t *)request->to[i] : NULL;
        for (uint64_t done = 0; done < record->size; done += TFD_LMDB_LARGEST_PIECE, made++) {
            uint64_t left = record->size - done;
            bool headed = place && !done && record->flags & TFD_LMDB_IN_PAGES;
            request->pieces[made] = (struct tfd_lmdb_piece){
                .offset = record->offset + done,
                .size = left < TFD_LMDB_LARGEST_PIECE ? left : TFD_LMDB_LARGEST_PIECE,
                .to = place ? place + done : NULL,
                .head = headed ? request->heads[i] : NULL,
            };
        }
    }
    return made;
}

static int check_heads(const struct request *request, struct tfd_lmdb_error *error)
{
    for (size_t i = 0; i < request->count; i++) {
        const struct tfd_lmdb_record *record = &request->file->found.records[request->numbers[i]];
        if (record->flags & TFD_LMDB_IN_PAGES &&
            tfd_lmdb_check_head(request->file, record, request->heads[i], error))
            return -1;
    }
    return 0;
}

static int read_values(struct request *request, int threads, bool cached, struct tfd_lmdb_error *error)
{
    int64_t pieces = count_pieces(request, error);
    if (pieces <= 0)
        return (int)pieces;
    request->pieces = malloc((size_t)pieces * sizeof *request->pieces);
    request->heads = malloc(request->count * sizeof *request->heads);
    const struct tfd_lmdb *file = request->file;
    int result =
        request->pieces && request->heads ? 0 : tfd_lmdb_fail_system(error, ENOMEM, "no memory to read");
    if (!result)
        result = tfd_lmdb_scatter(file->fd, file->direct_fd, request->pieces, make_pieces(request), threads,
                                  cached, error);
    if (!result && request->to)
        result = check_heads(request, error);
    free(request->heads);
    free(request->pieces);
    return result;
}

int tfd_lmdb_read_to(struct tfd_lmdb *file, const uint64_t *numbers, char *const *to, size_t count,
                     int threads, bool cached, struct tfd_lmdb_error *error)
{
    if (cached && file->direct_fd < 0 && tfd_lmdb_mapping(file))
        return tfd_lmdb_copy_mapped(file, numbers, to, count, error);
    struct request request = {.file = file, .numbers = numbers, .to = to, .count = count};
    return read_values(&request, threads, cached, error);
}

int tfd_lmdb_warm(const struct tfd_lmdb *file, const uint64_t *numbers, size_t count, int threads,
                  struct tfd_lmdb_error *error)
{
    struct request request = {.file = file, .numbers = numbers, .count = count};
    return read_values(&request, threads, false, error);
}

/* Turn places into pointers, and check that each value has room. */
static int place(const struct request *request, const uint64_t *places, char *to, uint64_t room,
                 char **pointers, struct tfd_lmdb_error *error)
{
    for (size_t i = 0; i < request->count; i++) {
        if (tfd_lmdb_check_number(request->file, request->numbers[i], error))
            return -1;
        uint64_t size = request->file->found.records[request->numbers[i]].size;
        if (places[i] > room || size > room - places[i])
            return tfd_lmdb_fail(error, TFD_LMDB_SYSTEM, "no room for the values of %zu records",
                                 request->count);
        pointers[i] = to + places[i];
    }
    return 0;
}

int tfd_lmdb_read(struct tfd_lmdb *file, const uint64_t *numbers, const uint64_t *places, size_t count,
                  char *to, uint64_t room, int threads, int cached, struct tfd_lmdb_error *error)
{
    if (!count)
        return 0;
    char **pointers = malloc(count * sizeof *pointers);
    if (!pointers)
        return tfd_lmdb_fail_system(error, ENOMEM, "no memory to read");
    struct request request = {.file = file, .numbers = numbers, .to = pointers, .count = count};
    int result = place(&request, places, to, room, pointers, error);
    if (!result)
        result = tfd_lmdb_read_to(file, numbers, pointers, count, threads, cached, error);
    free(pointers);
    return result;
}
