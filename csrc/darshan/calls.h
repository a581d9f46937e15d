/* The calls that go through libdarshan, by the column `darshan` of the hook table:
 *
 *   X(symbol, result, parameters, arguments, may_pass, gains)   a row for each call of a kind
 *   OWN(symbol)                                                 a row for each call whose functions are written by hand
 *
 * may_pass   whether Darshan may see this call: it must know the descriptor or stream, by an open of this
 *            session that it saw. Otherwise it would charge the call to whatever had the number before.
 * gains      what Darshan knows after the call */
#ifndef TFD_DARSHAN_CALLS_H
#define TFD_DARSHAN_CALLS_H

#include "hooks/hook_table.h"

#define TFD_DARSHAN_CALLS TFD_HOOKS(TFD_DARSHAN_CALL)
#define TFD_DARSHAN_CALL(symbol, operation, emulated, darshan, ...) TFD_DARSHAN_##darshan(symbol, __VA_ARGS__)

#define TFD_DARSHAN_NO(...)
#define TFD_DARSHAN_OWN(symbol, ...) OWN(symbol)
#define TFD_DARSHAN_VFSCANF(...) /* other names of a function that is written by hand */
#define TFD_DARSHAN_OPEN(...) X(__VA_ARGS__, open_may_pass(AT_FDCWD, path, flags), DESCRIPTOR)
#define TFD_DARSHAN_OPEN_AT(...) X(__VA_ARGS__, open_may_pass(dirfd, path, flags), DESCRIPTOR)
#define TFD_DARSHAN_NEW_FILE(...) X(__VA_ARGS__, true, DESCRIPTOR)
#define TFD_DARSHAN_DUP(...) X(__VA_ARGS__, tfd_knows(fd), DESCRIPTOR)
#define TFD_DARSHAN_FCNTL(...) X(__VA_ARGS__, fcntl_may_pass(fd, command), DESCRIPTOR)
#define TFD_DARSHAN_STREAM_OPEN(...) X(__VA_ARGS__, true, STREAM)
#define TFD_DARSHAN_FDOPEN(...) X(__VA_ARGS__, tfd_knows(fd), STREAM)
#define TFD_DARSHAN_FD(...) X(__VA_ARGS__, tfd_knows(fd), NOTHING)
#define TFD_DARSHAN_FD_AT(...) X(__VA_ARGS__, transfer_may_pass(fd, offset), NOTHING)
#define TFD_DARSHAN_STREAM(...) X(__VA_ARGS__, tfd_knows_stream(stream), NOTHING)
#define TFD_DARSHAN_PATH(...) X(__VA_ARGS__, true, NOTHING)

#endif
