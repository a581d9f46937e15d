#define _GNU_SOURCE
#include "hooks/hook_table.h"

#include "tfdarshan.h"

const struct tfd_hook_row tfd_hooks[TFD_HOOK_COUNT] = {
#define X(symbol, operation, ...) {#symbol, operation},
    TFD_HOOKS(X)
#undef X
};

void *tfd_next[TFD_HOOK_COUNT];
void *tfd_definition[TFD_HOOK_COUNT];

size_t tfd_hook_count(void)
{
    return TFD_HOOK_COUNT;
}

const char *tfd_hook_name(size_t hook)
{
    return hook < TFD_HOOK_COUNT ? tfd_hooks[hook].symbol : "";
}

const char *tfd_hook_operation(size_t hook)
{
    return hook < TFD_HOOK_COUNT ? tfd_hooks[hook].operation : "";
}
