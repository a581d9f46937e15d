/* The module tfdarshan._joiner: its import joins the session that the environment names. It is in the same library
 * as the core, so that a process that starts needs no package of Python's for it. */
#define Py_LIMITED_API 0x030A0000
#include <Python.h>

#include <stdlib.h>

#include "base/own_environment.h"
#include "python/take_over.h"
#include "tfdarshan.h"

static int join(PyObject *module)
{
    const char *directory = getenv(TFD_SESSION_VARIABLE);
    (void)module;
    if (!directory)
        return 0;
    tfd_library_leaves(false); /* what it has is the interpreter's own start, as it is left out without it */
    tfd_session_join(directory); /* what cannot join goes on as without it */
    return 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)join}, {0, NULL}};
static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_joiner",
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__joiner(void)
{
    return PyModuleDef_Init(&definition);
}
