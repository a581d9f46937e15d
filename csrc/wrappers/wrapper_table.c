/* Made from the hook table's rows. attach.c passes it to hooks/, which knows no wrapper by name. */
#include "wrappers/wrapper_table.h"

#include "wrappers/wrappers.h"

void *const tfd_wrapper_table[TFD_HOOK_COUNT] = {
#define X(symbol, ...) (void *)tfd_wrap_##symbol,
    TFD_HOOKS(X)
#undef X
};
