/* The plug-in of TensorFlow's profiler. It is in this library, so that there is one recorder. */
#include <stdatomic.h>

#include "tensorflow/tf_profiler.h"
#include "tensorflow/tf_profiler_api.h"
#include "tfdarshan.h"

static atomic_int registered;

static void start(const struct tp_profiler *profiler, struct tp_status *status)
{
    (void)profiler, (void)status;
    tfd_tf_session_begin();
}

static void stop(const struct tp_profiler *profiler, struct tp_status *status)
{
    (void)profiler, (void)status;
    tfd_tf_session_end();
}

static void collect(const struct tp_profiler *profiler, uint8_t *buffer, size_t *size,
                    struct tp_status *status)
{
    (void)profiler, (void)status;
    if (buffer)
        tfd_tf_session_take(buffer, *size);
    else
        *size = tfd_tf_session_size();
}

/* The structures belong to TensorFlow. */
static void keep_profiler(struct tp_profiler *profiler)
{
    (void)profiler;
}

static void keep_functions(struct tp_functions *functions)
{
    (void)functions;
}

/* A TensorFlow with other structures gets no functions, and reports that. */
void TF_InitProfiler(struct tp_registration *registration, struct tp_status *status)
{
    (void)status;
    if (registration->struct_size < sizeof *registration || registration->major != TFD_TP_MAJOR ||
        registration->profiler->struct_size < sizeof *registration->profiler ||
        registration->functions->struct_size < sizeof *registration->functions)
        return;
    registration->profiler->device_type = "TFDARSHAN";
    registration->functions->start = start;
    registration->functions->stop = stop;
    registration->functions->collect = collect;
    registration->destroy_profiler = keep_profiler;
    registration->destroy_functions = keep_functions;
    atomic_store(&registered, 1);
}

int tfd_tf_registered(void)
{
    return atomic_load(&registered);
}
