#include "counters/counters.h"

#include <stddef.h>
#include <stdint.h>

#include "tfdarshan.h"

struct counter_row {
    const char *name, *unit, *meaning;
};

#define X(name, unit, meaning) {#name, unit, meaning},
static const struct counter_row counters[] = {TFD_COUNTERS(X)};
static const struct counter_row f_counters[] = {TFD_F_COUNTERS(X)};
#undef X

static const struct counter_row no_row;

static const struct counter_row *counter(size_t index)
{
    return index < TFD_COUNTER_COUNT ? &counters[index] : &no_row;
}

static const struct counter_row *f_counter(size_t index)
{
    return index < TFD_F_COUNTER_COUNT ? &f_counters[index] : &no_row;
}

size_t tfd_counter_count(void)
{
    return TFD_COUNTER_COUNT;
}

const char *tfd_counter_name(size_t index)
{
    return counter(index)->name;
}

const char *tfd_counter_unit(size_t index)
{
    return counter(index)->unit;
}

const char *tfd_counter_meaning(size_t index)
{
    return counter(index)->meaning;
}

size_t tfd_f_counter_count(void)
{
    return TFD_F_COUNTER_COUNT;
}

const char *tfd_f_counter_name(size_t index)
{
    return f_counter(index)->name;
}

const char *tfd_f_counter_unit(size_t index)
{
    return f_counter(index)->unit;
}

const char *tfd_f_counter_meaning(size_t index)
{
    return f_counter(index)->meaning;
}
