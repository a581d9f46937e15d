/* The calls that storage emulation slows down, by the column `emulated` of the hook table:
 *
 *   X(symbol, result, parameters, arguments, begun, end)   a row for each call of a kind
 *   OWN(symbol)                                            a row for each call whose function is written by hand
 *
 * begun   facts that are taken before the call
 * end     function that asks the storage for the call's time after it; gets `begun` and the call's result */
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
/* Reads and writes at the descriptor's own position or at an offset. */
#define TFD_EMULATED_READ(...) X(__VA_ARGS__, begin_transfer(fd, -1), end_read)
#define TFD_EMULATED_READ_AT(...) X(__VA_ARGS__, begin_transfer(fd, offset), end_read)
#define TFD_EMULATED_WRITE(...) X(__VA_ARGS__, begin_transfer(fd, -1), end_write)
#define TFD_EMULATED_WRITE_AT(...) X(__VA_ARGS__, begin_transfer(fd, offset), end_write)
/* A call that the stream's buffer serves takes no time: only bytes by which the descriptor's position moved count. */
#define TFD_EMULATED_STREAM_READ(...) X(__VA_ARGS__, begin_stream_call(stream), end_stream_read)
#define TFD_EMULATED_STREAM_WRITE(...) X(__VA_ARGS__, begin_stream_call(stream), end_stream_write)
/* Calls by path, which is relative to dirfd. */
#define TFD_EMULATED_PATH(...) X(__VA_ARGS__, begin_look(AT_FDCWD, path), end_look)
#define TFD_EMULATED_PATH_AT(...) X(__VA_ARGS__, begin_look(dirfd, path), end_look)
#define TFD_EMULATED_SYNC(...) X(__VA_ARGS__, begin_transfer(fd, -1), end_sync)

#endif
