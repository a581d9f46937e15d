/* The part of TensorFlow's C API that the op uses (tensorflow/c/ops.h, kernels.h, tf_tensor.h, tf_status.h). The
 * headers are not needed: structures are opaque, and functions are found in the loaded TensorFlow. */
#ifndef TFD_TF_C_API_H
#define TFD_TF_C_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tf_status;
struct tf_tensor;
struct tf_op_definition;
struct tf_kernel_builder;
struct tf_op_context;
struct tf_op_construction;
struct tf_shape_context;

/* TF_DataType and TF_Code. */
enum { TF_UINT8 = 4, TF_STRING = 7, TF_INT64 = 9 };
enum { TF_OK = 0, TF_INVALID_ARGUMENT = 3, TF_RESOURCE_EXHAUSTED = 8, TF_FAILED_PRECONDITION = 9 };
enum { TF_UNAVAILABLE = 14, TF_DATA_LOSS = 15 };

typedef void (*tf_shape_function)(struct tf_shape_context *, struct tf_status *);

/* Result, name, parameters. */
#define TF_FUNCTIONS(F)                                                                                      \
    F(struct tf_status *, TF_NewStatus, (void))                                                              \
    F(void, TF_SetStatus, (struct tf_status *, int code, const char *message))                               \
    F(int, TF_GetCode, (const struct tf_status *))                                                           \
    F(void, TF_DeleteStatus, (struct tf_status *))                                                           \
    F(struct tf_op_definition *, TF_NewOpDefinitionBuilder, (const char *name))                              \
    F(void, TF_OpDefinitionBuilderAddInput, (struct tf_op_definition *, const char *))                       \
    F(void, TF_OpDefinitionBuilderAddOutput, (struct tf_op_definition *, const char *))                      \
    F(void, TF_OpDefinitionBuilderSetIsStateful, (struct tf_op_definition *, bool))                          \
    F(void, TF_OpDefinitionBuilderSetShapeInferenceFunction, (struct tf_op_definition *, tf_shape_function)) \
    F(void, TF_RegisterOpDefinition, (struct tf_op_definition *, struct tf_status *))                        \
    F(void, TF_ShapeInferenceContextSetUnknownShape, (struct tf_shape_context *, struct tf_status *))        \
    F(struct tf_kernel_builder *, TF_NewKernelBuilder,                                                       \
      (const char *op, const char *device, void *(*create)(struct tf_op_construction *),                     \
       void (*compute)(void *, struct tf_op_context *), void (*remove)(void *)))                             \
    F(void, TF_RegisterKernelBuilder, (const char *name, struct tf_kernel_builder *, struct tf_status *))    \
    F(void, TF_GetInput, (struct tf_op_context *, int index, struct tf_tensor **, struct tf_status *))       \
    F(struct tf_tensor *, TF_AllocateOutput,                                                                 \
      (struct tf_op_context *, int index, int type, const int64_t *dimensions, int count, size_t bytes,      \
       struct tf_status *))                                                                                  \
    F(void, TF_OpKernelContext_Failure, (struct tf_op_context *, struct tf_status *))                        \
    F(void *, TF_TensorData, (const struct tf_tensor *))                                                     \
    F(size_t, TF_TensorByteSize, (const struct tf_tensor *))                                                 \
    F(void, TF_DeleteTensor, (struct tf_tensor *))

struct tf_c_api {
#define TF_MEMBER(result, name, parameters) result(*name) parameters;
    TF_FUNCTIONS(TF_MEMBER)
#undef TF_MEMBER
};

/* Find the functions in this process's TensorFlow; return false if it is not loaded or lacks one of them. */
bool tfd_find_tf_c_api(struct tf_c_api *api);

#endif
