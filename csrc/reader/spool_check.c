#include "reader/spool_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "counters/fold_state.h"
#include "reader/chunk_list.h"

#define FILE_SEGMENTS 17u   /* the last one ends beyond TFD_MAX_FILES */
#define THREAD_SEGMENTS 15u /* the last one ends beyond TFD_MAX_THREADS */

static bool is_free(const struct spool_image *image, const struct chunk_list *list, uint64_t offset,
                    uint64_t size)
{
    return tfd_image_holds_block(image, offset, size) && !tfd_chunk_list_hits_segment(list, offset, size);
}

/* Return how many of `count` elements are in usable segments. */
static uint32_t usable_elements(const struct spool_image *image, struct chunk_list *list,
                                const uint64_t *segments, uint32_t segment_count, uint32_t first,
                                uint32_t element_bytes, uint32_t count)
{
    uint64_t usable = 0;
    for (uint32_t segment = 0; segment < segment_count && usable < count; segment++) {
        uint64_t elements = (uint64_t)first << segment, bytes = elements * element_bytes;
        if (!is_free(image, list, segments[segment], bytes))
            break;
        tfd_chunk_list_add_segment(list, segments[segment], bytes);
        usable += elements;
    }
    return usable < count ? (uint32_t)usable : count;
}

static uint32_t at_most(uint32_t count, uint32_t limit)
{
    return count < limit ? count : limit;
}

static void check_arrays(struct spool_image *image, struct chunk_list *list, struct spool_contents *contents)
{
    struct tfd_spool_header *header = image->spool.header;
    uint32_t threads = atomic_load(&header->thread_count), files = atomic_load(&header->file_count);
    uint32_t mounts = header->mount_count;
    uint32_t good_threads =
        usable_elements(image, list, header->thread_segments, THREAD_SEGMENTS, TFD_THREADS_IN_FIRST_SEGMENT,
                        sizeof(struct tfd_thread), at_most(threads, TFD_MAX_THREADS));
    uint32_t good_files =
        usable_elements(image, list, header->file_segments, FILE_SEGMENTS, TFD_FILES_IN_FIRST_SEGMENT,
                        sizeof(struct tfd_file), at_most(files, TFD_MAX_FILES));
    uint32_t good_mounts = at_most(mounts, TFD_MAX_MOUNTS);
    if (good_mounts && !tfd_image_holds_block(image, header->mounts, good_mounts * sizeof(struct tfd_mount)))
        good_mounts = 0;
    contents->damaged |= good_threads != threads || good_files != files || good_mounts != mounts;
    atomic_store(&header->thread_count, good_threads);
    atomic_store(&header->file_count, good_files);
    header->mount_count = good_mounts;
}

/* Count the valid events, and those that the process had folded; return the number of all events. */
static uint32_t count_events(const struct tfd_spool *spool, const struct tfd_chunk *chunk, uint32_t count,
                             struct spool_contents *contents)
{
    uint32_t folded = atomic_load(&chunk->folded), events = 0;
    for (uint32_t place = 0; place < count; events++) {
        struct tfd_event event;
        contents->events++;
        contents->events_folded += place < folded;
        place = tfd_chunk_event(chunk, place, &event);
        if (tfd_event_makes_sense(spool, &event))
            contents->events_kept += chunk->kept != 0;
        else
            contents->damaged = true;
    }
    return events;
}

/* A chunk that was being recycled has no places in use and an old `folded`. A sound chunk is not written, since each
 * write copies a page of the image. */
static void check_chunk(const struct tfd_spool *spool, struct tfd_chunk *chunk,
                        struct spool_contents *contents)
{
    uint32_t count = tfd_chunk_count(chunk), folded = atomic_load(&chunk->folded);
    if (count > chunk->capacity)
        count = chunk->capacity;
    if (folded > count) {
        contents->damaged |= count != 0;
        atomic_store(&chunk->folded, count);
    }
    uint64_t fill = TFD_FILL(count_events(spool, chunk, count, contents), count);
    if (atomic_load(&chunk->fill) == fill)
        return;
    contents->damaged = true;
    atomic_store(&chunk->fill, fill);
}

static void check_threads(struct spool_image *image, struct spool_contents *contents)
{
    const struct tfd_spool *spool = &image->spool;
    for (uint32_t i = 0; i < atomic_load(&spool->header->thread_count); i++) {
        struct tfd_thread *thread = tfd_thread_at(spool, i);
        thread->fold_chunk = 0;
        contents->recycled |= thread->events_dropped != 0;
        for (uint64_t offset = thread->first_chunk; offset;) {
            struct tfd_chunk *chunk = tfd_at(spool, offset);
            check_chunk(spool, chunk, contents);
            offset = chunk->next;
        }
    }
}

int tfd_spool_check(struct spool_image *image, struct spool_contents *contents)
{
    struct tfd_spool_header *header = image->spool.header;
    *contents = (struct spool_contents){.damaged = image->damaged};
    header->host[sizeof header->host - 1] = header->command[sizeof header->command - 1] = '\0';
    struct chunk_list list = {.image = image};
    check_arrays(image, &list, contents);
    int status = tfd_chunk_list_check(&list, &contents->damaged);
    if (status)
        return tfd_fail(ENOMEM, "no memory to check the spool");
    check_threads(image, contents);
    return 0;
}
