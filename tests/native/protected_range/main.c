/* The protection of one address's page: by the kernel's list of mappings, exact to the page among thousands of others,
 * and for the slots of an image. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "check.h"
#include "hooks/protected_range.h"

#define NEIGHBOURS 3000 /* more than one read of the list */

static size_t page;

/* Three pages, of which the middle one is protected as given. */
static char *map_around(int protection)
{
    char *pages = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED && mprotect(pages + page, page, protection) == 0);
    return pages;
}

static void find_in_the_list(int protection)
{
    struct tfd_range range;
    char *pages = map_around(protection);
    CHECK(tfd_range_of(pages + page, &range));
    CHECK_EQUAL(range.protection, protection);
    CHECK_EQUAL(range.start, (uintptr_t)(pages + page));
    CHECK(tfd_range_of(pages + 2 * page - 1, &range));
    CHECK_EQUAL(range.end, (uintptr_t)(pages + 2 * page));
    CHECK(munmap(pages, 3 * page) == 0);
    CHECK(!tfd_range_of(pages + page, &range));
}

static void find_a_slot_s_page(int protection, bool is_locked)
{
    struct tfd_range range;
    char *pages = map_around(protection);
    uintptr_t middle = (uintptr_t)(pages + page);
    struct tfd_image image = {.relro_start = is_locked ? middle : 0,
                              .relro_end = is_locked ? middle + page : 0};
    CHECK(tfd_page_range_of(pages + page + 8, &image, &range));
    CHECK_EQUAL(range.protection, protection);
    CHECK(range.start <= middle && range.end == middle + page);
    CHECK(munmap(pages, 3 * page) == 0);
}

int main(void)
{
    page = (size_t)sysconf(_SC_PAGESIZE);
    struct tfd_range range;
    for (int i = 0; i < NEIGHBOURS; i++) /* of two kinds in turn, which the kernel does not take together */
        CHECK(mmap(NULL, page, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
              MAP_FAILED);
    find_in_the_list(PROT_READ);
    find_in_the_list(PROT_READ | PROT_WRITE);
    find_in_the_list(PROT_READ | PROT_EXEC);
    CHECK(!tfd_range_of(NULL, &range));
    CHECK(tfd_range_of((const void *)(uintptr_t)mmap, &range)); /* a library, behind all of them */
    CHECK_EQUAL(range.protection, PROT_READ | PROT_EXEC);
    find_a_slot_s_page(PROT_READ | PROT_WRITE, false);
    find_a_slot_s_page(PROT_READ | PROT_WRITE, true);
    find_a_slot_s_page(PROT_READ, true);
    find_a_slot_s_page(PROT_READ, false);
    find_a_slot_s_page(PROT_READ | PROT_EXEC, false);
    return 0;
}
