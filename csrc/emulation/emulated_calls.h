/* The calls that storage emulation slows down, by the column `emulated` of the hook table:
 *
 *   X(symbol, result, parameters, arguments, begun, end)   one row for each that a kind can tell of
 *   OWN(symbol)                                            one for each whose function is written out
 *
 * begun   what is to be known before the call
 * end     what asks the storage for the call's time after it; given `begun` and what the call returned */
#ifndef TFD_EMULATED_CALLS_H
#define TFD_EMULATED_CALLS_H

#include "hooks/hook_table.h"

#define TFD_EMULATED_CALLS TFD_HOOKS(TFD_EMULATED_CALL)
#define TFD_EMULATED_CALL(symbol, operation, emulated, darshan, ...)                                         \
    TFD_EMULATED_##emulated(symbol, __VA_ARGS__)

#define TFD_EMULATED_NO(...)
#define TFD_EMULATED_OWN(symbol, ...) OWN(symbol)
#define TFD_EMULATED_OPEN(...) X(__VA_ARGS__, begin(), end_open)
#define TFD_EMULATED_STREAM_OPEN(...) X(__VA_ARGS__, begin(), end_stream_open)
/* At the descriptor's own position, or at an offset. */
#define TFD_EMULATED_READ(...) X(__VA_ARGS__, begin_transfer(fd, -1), end_read)
#define TFD_EMULATED_READ_AT(...) X(__VA_ARGS__, begin_transfer(fd, offset), end_read)
#define TFD_EMULATED_WRITE(...) X(__VA_ARGS__, begin_transfer(fd, -1), end_write)
#define TFD_EMULATED_WRITE_AT(...) X(__VA_ARGS__, begin_transfer(fd, offset), end_write)
/* What a stream's buffer answers takes no time: only the bytes count by which the descriptor's position moved. */
#define TFD_EMULATED_STREAM_READ(...) X(__VA_ARGS__, begin_stream_call(stream), end_stream_read)
#define TFD_EMULATED_STREAM_WRITE(...) X(__VA_ARGS__, begin_stream_call(stream), end_stream_write)
/* By path; relative ones are looked up from dirfd. */
#define TFD_EMULATED_PATH(...) X(__VA_ARGS__, begin_look(AT_FDCWD, path), end_look)
#define TFD_EMULATED_PATH_AT(...) X(__VA_ARGS__, begin_look(dirfd, path), end_look)
#define TFD_EMULATED_SYNC(...) X(__VA_ARGS__, begin_transfer(fd, -1), end_sync)

#endif
