/* The values of records, read to one place. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "lmdb/environment.h"
#include "lmdb/failure.h"
#include "lmdb/scatter.h"

struct request {
    const struct tfd_lmdb *file;
    const uint64_t *numbers;
    const uint64_t *places;
    size_t count;
    struct tfd_lmdb_piece *pieces;
    uint8_t (*heads)[TFD_LMDB_HEAD_BYTES]; /* of pages of values, by their place in numbers */
};

/* How many pieces they make; checks numbers and places. -1 on a failure. */
static int64_t count_pieces(const struct request *request, uint64_t room, struct tfd_lmdb_error *error)
{
    int64_t pieces = 0;
    for (size_t i = 0; i < request->count; i++) {
        if (request->numbers[i] >= request->file->found.count)
            return tfd_lmdb_fail(error, TFD_LMDB_MISSING, "has no record number %" PRIu64,
                                 request->numbers[i]);
        uint64_t size = request->file->found.records[request->numbers[i]].size;
        if (request->places[i] > room || size > room - request->places[i])
            return tfd_lmdb_fail(error, TFD_LMDB_SYSTEM, "no room for the values of %zu records",
                                 request->count);
        pieces += (int64_t)((size + TFD_LMDB_LARGEST_PIECE - 1) / TFD_LMDB_LARGEST_PIECE);
    }
    return pieces;
}

static size_t make_pieces(const struct request *request, uint8_t *to)
{
    size_t made = 0;
    for (size_t i = 0; i < request->count; i++) {
        const struct tfd_lmdb_record *record = &request->file->found.records[request->numbers[i]];
        uint8_t *place = to + request->places[i];
        for (uint64_t done = 0; done < record->size; done += TFD_LMDB_LARGEST_PIECE, made++) {
            uint64_t left = record->size - done;
            bool headed = !done && record->flags & TFD_LMDB_IN_PAGES;
            request->pieces[made] = (struct tfd_lmdb_piece){
                .offset = record->offset + done,
                .size = left < TFD_LMDB_LARGEST_PIECE ? left : TFD_LMDB_LARGEST_PIECE,
                .to = place + done,
                .head = headed ? request->heads[i] : NULL,
            };
        }
    }
    return made;
}

/* That values that have pages of their own still have them. */
static int check_heads(const struct request *request, struct tfd_lmdb_error *error)
{
    uint64_t bytes = request->file->page_bytes;
    for (size_t i = 0; i < request->count; i++) {
        const struct tfd_lmdb_record *record = &request->file->found.records[request->numbers[i]];
        if (!record->size || !(record->flags & TFD_LMDB_IN_PAGES))
            continue;
        const uint8_t *head = request->heads[i];
        if (mdb_u64(head) != record->offset / bytes || !(mdb_u16(head + 10) & MDB_P_OVERFLOW) ||
            mdb_u32(head + 12) * bytes < MDB_PAGE_HEADER_BYTES + (uint64_t)record->size)
            return tfd_lmdb_fail(error, TFD_LMDB_DAMAGED,
                                 "is damaged: page %" PRIu64 " does not begin a value",
                                 record->offset / bytes);
    }
    return 0;
}

int tfd_lmdb_read(const struct tfd_lmdb *file, const uint64_t *numbers, const uint64_t *places, size_t count,
                  char *to, uint64_t room, int threads, int cached, struct tfd_lmdb_error *error)
{
    struct request request = {.file = file, .numbers = numbers, .places = places, .count = count};
    int64_t pieces = count_pieces(&request, room, error);
    if (pieces <= 0)
        return (int)pieces;
    request.pieces = malloc((size_t)pieces * sizeof *request.pieces);
    request.heads = malloc(count * sizeof *request.heads);
    int result =
        request.pieces && request.heads ? 0 : tfd_lmdb_fail_system(error, ENOMEM, "no memory to read");
    if (!result)
        result = tfd_lmdb_scatter(file->fd, file->direct_fd, request.pieces,
                                  make_pieces(&request, (uint8_t *)to), threads, cached, error);
    if (!result)
        result = check_heads(&request, error);
    free(request.heads);
    free(request.pieces);
    return result;
}
