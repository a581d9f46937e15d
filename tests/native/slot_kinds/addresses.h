#ifndef ADDRESSES_H
#define ADDRESSES_H

#include <unistd.h>

typedef ssize_t read_function(int, void *, size_t);
typedef int fsync_function(int);

read_function *address_of_read(void);
fsync_function *address_of_fsync(void);

#endif
