/* The type of each hooked function (tfd_read_function for read), and the next functions by these types. */
#ifndef TFD_FUNCTION_TYPES_H
#define TFD_FUNCTION_TYPES_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <aio.h>
#include <dirent.h>
#include <linux/openat2.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <wchar.h>

#include "hooks/hook_table.h"

#define X(symbol, operation, emulated, darshan, result, parameters, arguments)                               \
    typedef result tfd_##symbol##_function parameters;
TFD_DECLARED_HOOKS(X)
#undef X

#define TFD_NEXT(symbol) ((tfd_##symbol##_function *)tfd_next_of(TFD_HOOK_##symbol))
#define TFD_DEFINITION(symbol) ((tfd_##symbol##_function *)tfd_definition[TFD_HOOK_##symbol])

#endif
