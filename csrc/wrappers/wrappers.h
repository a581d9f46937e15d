/* Declarations of every wrapper: tfd_wrap_read for read. */
#ifndef TFD_WRAPPERS_H
#define TFD_WRAPPERS_H

#include "hooks/function_types.h"

#define X(symbol, ...) tfd_##symbol##_function tfd_wrap_##symbol;
TFD_HOOKS(X)
#undef X

#endif
