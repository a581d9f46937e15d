/* The names of operations, their modules and classes, and of other traffic. */
#include <stddef.h>
#include <stdint.h>

#include "spool/event.h"
#include "spool/spool.h"
#include "tfdarshan.h"

#define X(suffix, name, module, io_class) name,
static const char *const operation_names[] = {TFD_OPERATIONS(X)};
#undef X

#define X(suffix, name, module, io_class) TFD_MODULE_##module,
static const uint8_t operation_modules[] = {TFD_OPERATIONS(X)};
#undef X

#define X(suffix, name, module, io_class) TFD_CLASS_##io_class,
static const uint8_t operation_classes[] = {TFD_OPERATIONS(X)};
#undef X

static const char *const module_names[TFD_MODULE_COUNT] = {"POSIX", "STDIO"};
static const char *const class_names[TFD_CLASS_COUNT] = {"read", "write", "meta"};
static const char *const other_kind_names[TFD_OTHER_KIND_COUNT] = {
    [TFD_OTHER_EXCLUDED] = "excluded", [TFD_OTHER_PIPE] = "pipe",           [TFD_OTHER_SOCKET] = "socket",
    [TFD_OTHER_DEVICE] = "device",     [TFD_OTHER_ANONYMOUS] = "anonymous", [TFD_OTHER_UNKNOWN] = "unknown",
    [TFD_OTHER_SKIPPED] = "skipped",
};

size_t tfd_operation_count(void)
{
    return TFD_OPERATION_COUNT;
}

const char *tfd_operation_name(size_t operation)
{
    return operation < TFD_OPERATION_COUNT ? operation_names[operation] : NULL;
}

const char *tfd_operation_module(size_t operation)
{
    return operation < TFD_OPERATION_COUNT ? module_names[operation_modules[operation]] : NULL;
}

const char *tfd_operation_class(size_t operation)
{
    return operation < TFD_OPERATION_COUNT ? class_names[operation_classes[operation]] : NULL;
}

const char *tfd_other_kind_name(size_t kind)
{
    return kind < TFD_OTHER_KIND_COUNT ? other_kind_names[kind] : NULL;
}
