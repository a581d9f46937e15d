/* The wrapper of each hook. */
#ifndef TFD_WRAPPER_TABLE_H
#define TFD_WRAPPER_TABLE_H

#include "hooks/hook_table.h"

extern void *const tfd_wrapper_table[TFD_HOOK_COUNT];

#endif
