/* Two ops of tf.data that read records of an LMDB database straight into tensors, without the interpreter's lock.
 *
 * tf.load_op_library() loads this library, whose constructor registers the ops. They read by functions of the extension
 * _lmdb, which Python passes once, and name files by number. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdlib.h>

#include "offline/lmdb/borrowed.h"
#include "offline/tf_data/tf_c_api.h"
#include "offline/tf_data/tf_string.h"

enum { LENT, SPAN, NUMBERS, FIRST, COUNT, INPUTS };

static const char *const inputs[INPUTS] = {"lent: int64", "span: int64", "numbers: int64", "first: int64",
                                           "count: int64"};
static struct tf_c_api tf;
static _Atomic(const struct tfd_lmdb_borrowed_calls *) calls;

#define EXPORTED __attribute__((visibility("default")))

/* The state of one call of an op, which end() frees. */
struct call {
    struct tf_op_context *context;
    struct tf_status *status;
    struct tf_tensor *inputs[INPUTS];
    struct tfd_lmdb_part part;
    uint64_t *sizes;
    char **places;
    int64_t total;
};

/* Return 0 if the functions fit this library. */
EXPORTED int tfd_lmdb_op_connect(const struct tfd_lmdb_borrowed_calls *given)
{
    if (given->version != TFD_LMDB_BORROWED_VERSION)
        return -1;
    atomic_store(&calls, given);
    return 0;
}

static int code_of(int kind)
{
    switch (kind) {
    case TFD_LMDB_DAMAGED:
        return TF_DATA_LOSS;
    case TFD_LMDB_SYSTEM:
        return TF_UNAVAILABLE;
    default:
        return TF_FAILED_PRECONDITION;
    }
}

static int fail(struct call *call, int code, const char *message)
{
    if (tf.TF_GetCode(call->status) == TF_OK)
        tf.TF_SetStatus(call->status, code, message);
    tf.TF_OpKernelContext_Failure(call->context, call->status);
    return -1;
}

static int fail_reading(struct call *call, const struct tfd_lmdb_error *error)
{
    return fail(call, code_of(error->kind), error->text);
}

static int take_inputs(struct call *call)
{
    int64_t scalars[INPUTS];
    for (int i = 0; i < INPUTS; i++) {
        tf.TF_GetInput(call->context, i, &call->inputs[i], call->status);
        if (tf.TF_GetCode(call->status) != TF_OK)
            return fail(call, TF_INVALID_ARGUMENT, "an input is missing");
        if (i != NUMBERS && tf.TF_TensorByteSize(call->inputs[i]) != sizeof *scalars)
            return fail(call, TF_INVALID_ARGUMENT, "an input is not a number");
        if (i != NUMBERS)
            scalars[i] = *(const int64_t *)tf.TF_TensorData(call->inputs[i]);
    }
    size_t total = tf.TF_TensorByteSize(call->inputs[NUMBERS]) / sizeof *scalars;
    if (scalars[FIRST] < 0 || scalars[COUNT] < 0 || (size_t)scalars[FIRST] > total)
        return fail(call, TF_INVALID_ARGUMENT, "the part is not of the span");
    size_t first = (size_t)scalars[FIRST], count = (size_t)scalars[COUNT];
    call->part = (struct tfd_lmdb_part){
        .lent = (uint64_t)scalars[LENT],
        .span = (uint64_t)scalars[SPAN],
        .numbers = tf.TF_TensorData(call->inputs[NUMBERS]),
        .total = total,
        .first = first,
        .count = count < total - first ? count : total - first,
    };
    return 0;
}

static int begin(struct call *call, struct tf_op_context *context)
{
    const struct tfd_lmdb_borrowed_calls *reader = atomic_load(&calls);
    struct tfd_lmdb_error error;
    *call = (struct call){.context = context, .status = tf.TF_NewStatus()};
    if (!reader)
        return fail(call, TF_FAILED_PRECONDITION,
                    "tfdarshan.lmdb has not made this op ready in this process");
    if (take_inputs(call))
        return -1;
    call->sizes = malloc((call->part.count + 1) * sizeof *call->sizes);
    call->places = malloc((call->part.count + 1) * sizeof *call->places);
    if (!call->sizes || !call->places)
        return fail(call, TF_RESOURCE_EXHAUSTED, "no memory to read into");
    call->total = reader->sizes(&call->part, call->sizes, &error);
    return call->total < 0 ? fail_reading(call, &error) : 0;
}

static void read_values(struct call *call)
{
    struct tfd_lmdb_error error;
    if (atomic_load(&calls)->read(&call->part, call->places, &error))
        fail_reading(call, &error);
}

static void end(struct call *call)
{
    for (int i = 0; i < INPUTS; i++)
        if (call->inputs[i])
            tf.TF_DeleteTensor(call->inputs[i]);
    free(call->sizes);
    free(call->places);
    tf.TF_DeleteStatus(call->status);
}

/* Return the memory of an output, NULL if the call has failed. The tensor owns the memory, and the op's context has a
 * reference to it. */
static void *allocate(struct call *call, int index, int type, int64_t length, size_t each)
{
    struct tf_tensor *tensor =
        tf.TF_AllocateOutput(call->context, index, type, &length, 1, (size_t)length * each, call->status);
    if (tf.TF_GetCode(call->status) != TF_OK || !tensor) {
        fail(call, TF_RESOURCE_EXHAUSTED, "no memory for a tensor");
        return NULL;
    }
    void *memory = tf.TF_TensorData(tensor);
    tf.TF_DeleteTensor(tensor);
    /* An empty tensor has no memory. */
    static char nothing;
    return memory ? memory : &nothing;
}

static void flat(void *kernel, struct tf_op_context *context)
{
    (void)kernel;
    struct call call;
    if (!begin(&call, context)) {
        int64_t count = (int64_t)call.part.count, at = 0;
        char *buffer = allocate(&call, 0, TF_UINT8, call.total, 1);
        int64_t *offsets = buffer ? allocate(&call, 1, TF_INT64, count + 1, sizeof *offsets) : NULL;
        for (int64_t i = 0; offsets && i < count; at += (int64_t)call.sizes[i++]) {
            offsets[i] = at;
            call.places[i] = buffer + at;
        }
        if (offsets) {
            offsets[count] = at;
            read_values(&call);
        }
    }
    end(&call);
}

static void strings(void *kernel, struct tf_op_context *context)
{
    (void)kernel;
    struct call call;
    if (!begin(&call, context)) {
        int64_t count = (int64_t)call.part.count;
        union tf_string *values = allocate(&call, 0, TF_STRING, count, sizeof *values);
        bool have_room = values;
        for (int64_t i = 0; have_room && i < count; i++)
            have_room = (call.places[i] = tf_string_of_size(&values[i], call.sizes[i]));
        if (have_room)
            read_values(&call);
        else if (values)
            fail(&call, TF_RESOURCE_EXHAUSTED, "no memory for strings");
    }
    end(&call);
}

static void shape(struct tf_shape_context *context, struct tf_status *status)
{
    tf.TF_ShapeInferenceContextSetUnknownShape(context, status);
}

static bool is_registered(const char *name, const char *const *outputs, int count,
                          void (*compute)(void *, struct tf_op_context *))
{
    struct tf_status *status = tf.TF_NewStatus();
    struct tf_op_definition *op = tf.TF_NewOpDefinitionBuilder(name);
    for (int i = 0; i < INPUTS; i++)
        tf.TF_OpDefinitionBuilderAddInput(op, inputs[i]);
    for (int i = 0; i < count; i++)
        tf.TF_OpDefinitionBuilderAddOutput(op, outputs[i]);
    tf.TF_OpDefinitionBuilderSetIsStateful(
        op, true); /* stateful, so neither folded nor shared: it reads a file */
    tf.TF_OpDefinitionBuilderSetShapeInferenceFunction(op, shape);
    tf.TF_RegisterOpDefinition(op, status);
    if (tf.TF_GetCode(status) == TF_OK)
        tf.TF_RegisterKernelBuilder(name, tf.TF_NewKernelBuilder(name, "CPU", NULL, compute, NULL), status);
    bool registered = tf.TF_GetCode(status) == TF_OK;
    tf.TF_DeleteStatus(status);
    return registered;
}

__attribute__((constructor)) static void register_ops(void)
{
    static const char *const flat_outputs[] = {"buffer: uint8", "offsets: int64"};
    static const char *const string_outputs[] = {"values: string"};
    /* If TensorFlow lacks a function, Python finds no op and reads without one. */
    if (tfd_find_tf_c_api(&tf) && is_registered("TfdarshanLmdbFlat", flat_outputs, 2, flat))
        is_registered("TfdarshanLmdbStrings", string_outputs, 1, strings);
}
