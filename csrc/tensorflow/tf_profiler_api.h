/* Layouts of version 0.0.1 of TensorFlow's C interface of profiler plug-ins. */
#ifndef TFD_TF_PROFILER_API_H
#define TFD_TF_PROFILER_API_H

#include <stddef.h>
#include <stdint.h>

#define TFD_TP_MAJOR 0

struct tp_status; /* TensorFlow's, OK at the call; it stays OK, since we link no function that sets it */

struct tp_profiler {
    size_t struct_size;
    void *ext;
    const char *device_type;
};

struct tp_functions {
    size_t struct_size;
    void *ext;
    void (*start)(const struct tp_profiler *profiler, struct tp_status *status);
    void (*stop)(const struct tp_profiler *profiler, struct tp_status *status);
    /* Called twice: without a buffer for the size, then with a buffer of that size. */
    void (*collect)(const struct tp_profiler *profiler, uint8_t *buffer, size_t *size,
                    struct tp_status *status);
};

struct tp_registration {
    size_t struct_size;
    void *ext;
    int32_t major, minor, patch;
    struct tp_profiler *profiler;
    struct tp_functions *functions;
    void (*destroy_profiler)(struct tp_profiler *profiler);
    void (*destroy_functions)(struct tp_functions *functions);
};

/* TensorFlow looks up this name in the library. */
__attribute__((visibility("default"))) void TF_InitProfiler(struct tp_registration *registration,
                                                            struct tp_status *status);

#endif
