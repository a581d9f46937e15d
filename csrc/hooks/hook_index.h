/* From a symbol's name to its row in the hook table. */
#ifndef TFD_HOOK_INDEX_H
#define TFD_HOOK_INDEX_H

#include "hooks/hook_table.h"

#include <stdint.h>

void tfd_hook_index_build(void);
void tfd_hook_index_add(const char *name, unsigned hook); /* adds an alias */
int tfd_hook_by_name(const char *name);                   /* -1: not hooked */

#endif
