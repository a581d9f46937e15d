/* TensorFlow's strings as tensors hold them: tsl/platform/ctstring_internal.h, whose functions are inline there. */
#ifndef TFD_TF_STRING_H
#define TFD_TF_STRING_H

#include <stdint.h>
#include <stdlib.h>

enum { TF_STRING_BYTES = 24, TF_SMALL_STRING_BYTES = 22, TF_LARGE_STRING = 1 };

union tf_string {
    struct {
        uint8_t size; /* times 4 */
        char text[TF_SMALL_STRING_BYTES + 1];
    } small;
    struct {
        size_t size; /* times 4, plus the kind */
        size_t capacity;
        char *text;
    } large;
};

_Static_assert(sizeof(union tf_string) == TF_STRING_BYTES, "as TensorFlow's");

/* Do the same as TF_TString_ResizeUninitialized() to an empty string; return NULL if there is no memory. */
static inline char *tf_string_of_size(union tf_string *string, size_t size)
{
    if (size <= TF_SMALL_STRING_BYTES) {
        string->small.size = (uint8_t)(size << 2);
        string->small.text[size] = 0;
        return string->small.text;
    }
    size_t capacity = ((size + 1 + 15) & ~(size_t)15) - 1;
    char *text = malloc(capacity + 1);
    if (!text)
        return NULL;
    text[size] = 0;
    string->large.size = size << 2 | TF_LARGE_STRING;
    string->large.capacity = capacity;
    string->large.text = text;
    return text;
}

#endif
