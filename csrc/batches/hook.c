/* The module tfdarshan.native._batches: objects that stand in for a framework's methods, call them, and note when.
 *
 * They are in C for what a user sees, not for the time alone: a function of Python's would be a frame more in each
 * traceback, and warnings that name their caller would name us. An object of this kind hands on whatever it is asked
 * for to the method that it stands for. */
#define Py_LIMITED_API 0x030A0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "batches/batch_log.h"

enum hook_kind { HOOK_ITER, HOOK_NEXT, HOOK_WORKER, HOOK_FETCH };

struct hook {
    PyObject_HEAD int kind;
    PyObject *original;
};

/* One pass over the input, kept by its iterator: it ends when the iterator does. */
struct pass {
    PyObject_HEAD uint64_t session;
    int32_t number;
    int32_t batches;
    bool of_iterator;
};

static PyTypeObject *pass_type;
static PyObject *method_type, *copy_function, *on_pass, *on_first, *on_wait, *worker_module;
static PyObject *pass_name, *sampler_name, *queue_name, *size_name, *tasks_name, *worker_name, *id_name,
    *turn_name;
static int32_t fetchers;
/* What goes on within a call that is noted already is no wait of its own. */
static _Thread_local int starting, requesting;
/* started_pass: of the iterator that was made last in the call that starts one, -1 for none. */
static _Thread_local int32_t delivering_worker, started_pass;

static void meet_process(void)
{
    if (tfd_batch_log_forked()) {
        starting = requesting = 0;
        fetchers = 0;
    }
}

/* Called by the main thread's interpreter loop. */
static int raise_again(void *error)
{
    PyErr_SetObject((PyObject *)Py_TYPE((PyObject *)error), error);
    Py_DECREF((PyObject *)error);
    return -1;
}

/* An error of ours is none of the job's. What a signal's handler raises meanwhile is: Ctrl-C, or the end. */
static void forget_error(void)
{
    if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_Exception)) {
        PyErr_Clear();
        return;
    }
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    if (Py_AddPendingCall(raise_again, error))
        Py_XDECREF(error);
}

static PyObject *get_or_null(PyObject *object, PyObject *name)
{
    PyObject *found = PyObject_GetAttr(object, name);
    if (!found)
        forget_error();
    return found;
}

static int32_t as_number(PyObject *number, int32_t otherwise)
{
    if (!number || number == Py_None)
        return otherwise;
    long value = PyLong_AsLong(number);
    if (value == -1 && PyErr_Occurred()) {
        forget_error();
        return otherwise;
    }
    return (int32_t)value;
}

static struct pass *make_pass(PyObject *owner, int32_t number, bool of_iterator)
{
    struct pass *pass = PyObject_New(struct pass, pass_type);
    if (!pass) {
        forget_error();
        return NULL;
    }
    pass->session = tfd_batch_log_session();
    pass->number = number;
    pass->batches = 0;
    pass->of_iterator = of_iterator;
    if (PyObject_SetAttr(owner, pass_name, (PyObject *)pass) < 0) {
        forget_error();
        pass->of_iterator = false;
        Py_DECREF(pass);
        return NULL;
    }
    return pass;
}

/* The pass that `owner` is in, a new reference; NULL if there is none of this session. */
static struct pass *known_pass(PyObject *owner)
{
    PyObject *found = get_or_null(owner, pass_name);
    if (found && Py_TYPE(found) == pass_type && ((struct pass *)found)->session == tfd_batch_log_session())
        return (struct pass *)found;
    Py_XDECREF(found);
    return NULL;
}

/* Begins a pass: on_pass(loader or None, iterator) describes it and numbers it, with -1 if it is not to be noted. */
static struct pass *begin_pass(PyObject *loader, PyObject *iterator)
{
    if (!on_pass)
        return NULL;
    PyObject *told = PyObject_CallFunctionObjArgs(on_pass, loader, iterator, NULL);
    if (!told)
        forget_error();
    int32_t number = as_number(told, -1);
    Py_XDECREF(told);
    return make_pass(iterator, number, number >= 0);
}

/* Begins to measure a wait on another clock: returns what to call at its end; None or NULL: nothing. */
static PyObject *begin_wait(void)
{
    PyObject *begins = on_wait;
    if (!begins)
        return NULL;
    /* Another thread may end the session meanwhile. */
    Py_INCREF(begins);
    PyObject *ending = PyObject_CallNoArgs(begins);
    Py_DECREF(begins);
    if (!ending)
        forget_error();
    return ending;
}

/* Keeps the error that the wait ended with. */
static void end_wait(PyObject *ending, const struct tfd_batch_times *times)
{
    if (ending && ending != Py_None) {
        PyObject *type, *value, *trace;
        PyErr_Fetch(&type, &value, &trace);
        PyObject *told =
            PyObject_CallFunction(ending, "LL", (long long)times->begin_ns, (long long)times->end_ns);
        if (!told)
            forget_error();
        Py_XDECREF(told);
        PyErr_Restore(type, value, trace);
    }
    Py_XDECREF(ending);
}

/* Calls on_first(pass, batch) with the first batch of a pass. */
static void tell_first(const struct pass *pass, PyObject *batch)
{
    PyObject *tells = on_first;
    if (!tells || !batch || pass->batches)
        return;
    /* Another thread may end the session meanwhile. */
    Py_INCREF(tells);
    PyObject *told = PyObject_CallFunction(tells, "iO", (int)pass->number, batch);
    Py_DECREF(tells);
    if (!told)
        forget_error();
    Py_XDECREF(told);
}

static enum tfd_batch_outcome outcome_of(PyObject *result)
{
    if (result)
        return TFD_BATCH_CAME;
    return PyErr_ExceptionMatches(PyExc_StopIteration) ? TFD_BATCH_STOPPED : TFD_BATCH_FAILED;
}

/* Begins the pass of an iterator of PyTorch's that a call has made, and returns its number, else -1. The call may hand
 * on what a call within it has made: nothing was taken from that yet. */
static int32_t start_pass(PyObject *args, PyObject *iterator)
{
    PyObject *sampler = get_or_null(iterator, sampler_name), *loader = PyTuple_GetItem(args, 0);
    if (!loader)
        forget_error();
    struct pass *pass = sampler ? known_pass(iterator) : NULL;
    if (sampler && (!pass || pass->batches)) {
        Py_XDECREF(pass);
        pass = begin_pass(loader ? loader : Py_None, iterator);
    }
    int32_t number = pass ? pass->number : -1;
    Py_XDECREF(pass);
    Py_XDECREF(sampler);
    return number;
}

static PyObject *timed_iter(struct hook *hook, PyObject *args, PyObject *keywords)
{
    /* A loader that the data set of another one goes over is part of making that one's batch. */
    if (requesting)
        return PyObject_Call(hook->original, args, keywords);
    if (!starting)
        started_pass = -1;
    struct tfd_batch_times times = {.worker = -1};
    PyObject *ending = starting++ ? NULL : begin_wait();
    times.begin_ns = tfd_batch_log_now();
    PyObject *iterator = PyObject_Call(hook->original, args, keywords);
    times.end_ns = tfd_batch_log_now();
    end_wait(ending, &times);
    starting--;
    if (!iterator)
        return NULL;
    int32_t number = start_pass(args, iterator);
    if (number >= 0)
        started_pass = number;
    times.pass = started_pass;
    if (!starting)
        tfd_batch_log_add(TFD_BATCH_START, TFD_BATCH_CAME, times);
    return iterator;
}

/* Whose turn it is, as iterators tell that hand batches over in order; -1 if they do not. */
static int32_t worker_in_turn(PyObject *iterator, PyObject *tasks)
{
    PyObject *turn = get_or_null(iterator, turn_name);
    PyObject *task = turn ? PyDict_GetItemWithError(tasks, turn) : NULL;
    PyObject *worker = task && PyTuple_Check(task) ? PyTuple_GetItem(task, 0) : NULL;
    if (!worker)
        forget_error();
    Py_XDECREF(turn);
    return as_number(worker, -1);
}

/* How many batches lie ready: in the queue, and aside as it is not their turn. */
static void look_at_ready(PyObject *iterator, struct tfd_batch_times *times)
{
    PyObject *tasks = get_or_null(iterator, tasks_name);
    if (!tasks)
        return;
    PyObject *queue = get_or_null(iterator, queue_name), *key, *task;
    PyObject *size = queue ? PyObject_CallMethodObjArgs(queue, size_name, NULL) : NULL;
    if (queue && !size)
        forget_error();
    times->queued = as_number(size, 0);
    if (PyDict_Check(tasks)) {
        times->worker = worker_in_turn(iterator, tasks);
        for (Py_ssize_t place = 0; PyDict_Next(tasks, &place, &key, &task);)
            times->kept += PyTuple_Check(task) && PyTuple_Size(task) > 1;
    }
    Py_XDECREF(size);
    Py_XDECREF(queue);
    Py_DECREF(tasks);
}

static PyObject *timed_next(struct hook *hook, PyObject *args, PyObject *keywords)
{
    PyObject *iterator = requesting || starting ? NULL : PyTuple_GetItem(args, 0);
    if (!iterator) {
        forget_error();
        return PyObject_Call(hook->original, args, keywords);
    }
    struct pass *pass = known_pass(iterator);
    if (!pass)
        pass = begin_pass(Py_None, iterator);
    if (!pass || pass->number < 0) {
        Py_XDECREF(pass);
        return PyObject_Call(hook->original, args, keywords);
    }
    struct tfd_batch_times times = {.pass = pass->number, .ordinal = pass->batches, .worker = -1};
    look_at_ready(iterator, &times);
    requesting++;
    delivering_worker = times.worker;
    PyObject *ending = begin_wait();
    times.begin_ns = tfd_batch_log_now();
    PyObject *batch = PyObject_Call(hook->original, args, keywords);
    times.end_ns = tfd_batch_log_now();
    end_wait(ending, &times);
    requesting--;
    times.worker = delivering_worker;
    tfd_batch_log_add(TFD_BATCH_REQUEST, outcome_of(batch), times);
    tell_first(pass, batch);
    pass->batches += batch != NULL;
    Py_DECREF(pass);
    return batch;
}

static PyObject *noted_worker(struct hook *hook, PyObject *args, PyObject *keywords)
{
    PyObject *worker = PyTuple_Size(args) > 2 ? PyTuple_GetItem(args, 2) : NULL;
    delivering_worker = as_number(worker, delivering_worker);
    return PyObject_Call(hook->original, args, keywords);
}

/* Which worker this process is, -1 for none. */
static int32_t own_worker(void)
{
    PyObject *info = worker_module ? get_or_null(worker_module, worker_name) : NULL;
    PyObject *number = info && info != Py_None ? get_or_null(info, id_name) : NULL;
    int32_t worker = as_number(number, -1);
    Py_XDECREF(number);
    Py_XDECREF(info);
    return worker;
}

static PyObject *timed_fetch(struct hook *hook, PyObject *args, PyObject *keywords)
{
    PyObject *fetcher = PyTuple_GetItem(args, 0);
    if (!fetcher) {
        forget_error();
        return PyObject_Call(hook->original, args, keywords);
    }
    struct pass *pass = known_pass(fetcher);
    if (!pass)
        pass = make_pass(fetcher, fetchers++, false);
    if (!pass)
        return PyObject_Call(hook->original, args, keywords);
    struct tfd_batch_times times = {.pass = pass->number, .ordinal = pass->batches++, .worker = own_worker()};
    times.begin_ns = tfd_batch_log_now();
    PyObject *batch = PyObject_Call(hook->original, args, keywords);
    times.end_ns = tfd_batch_log_now();
    tfd_batch_log_add(TFD_BATCH_FETCH, outcome_of(batch), times);
    Py_DECREF(pass);
    return batch;
}

static PyObject *call_hook(PyObject *self, PyObject *args, PyObject *keywords)
{
    struct hook *hook = (struct hook *)self;
    meet_process();
    if (!tfd_batch_log_session())
        return PyObject_Call(hook->original, args, keywords);
    switch (hook->kind) {
    case HOOK_ITER:
        return timed_iter(hook, args, keywords);
    case HOOK_NEXT:
        return timed_next(hook, args, keywords);
    case HOOK_WORKER:
        return noted_worker(hook, args, keywords);
    default:
        return timed_fetch(hook, args, keywords);
    }
}

static PyObject *bind_hook(PyObject *self, PyObject *object, PyObject *type)
{
    (void)type;
    if (!object || object == Py_None) {
        Py_INCREF(self);
        return self;
    }
    return PyObject_CallFunctionObjArgs(method_type, self, object, NULL);
}

static PyObject *get_of_original(PyObject *self, PyObject *name)
{
    PyObject *original = ((struct hook *)self)->original;
    if (!PyUnicode_CompareWithASCIIString(name, "__wrapped__")) {
        Py_INCREF(original);
        return original;
    }
    if (!PyUnicode_CompareWithASCIIString(name, "__reduce_ex__"))
        return PyObject_GenericGetAttr(self, name);
    PyObject *found = PyObject_GetAttr(original, name);
    if (found || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return found;
    forget_error();
    return PyObject_GenericGetAttr(self, name);
}

static void free_object(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static void free_hook(PyObject *self)
{
    Py_XDECREF(((struct hook *)self)->original);
    free_object(self);
}

static void free_pass(PyObject *self)
{
    struct pass *pass = (struct pass *)self;
    meet_process();
    if (pass->of_iterator && pass->session == tfd_batch_log_session()) {
        int64_t now_ns = tfd_batch_log_now();
        struct tfd_batch_times times = {
            .begin_ns = now_ns, .end_ns = now_ns, .pass = pass->number, .worker = -1};
        times.ordinal = pass->batches;
        tfd_batch_log_add(TFD_BATCH_END, TFD_BATCH_CAME, times);
    }
    free_object(self);
}

static PyObject *new_hook(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    (void)keywords;
    int kind;
    PyObject *original;
    if (!PyArg_ParseTuple(args, "iO", &kind, &original))
        return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct hook *hook = (struct hook *)allocate(type, 0);
    if (!hook)
        return NULL;
    Py_INCREF(original);
    hook->kind = kind;
    hook->original = original;
    return (PyObject *)hook;
}

/* Who pickles a class by value gets its own method: copy.copy() hands functions on. */
static PyObject *reduce_hook(PyObject *self, PyObject *protocol)
{
    (void)protocol;
    return Py_BuildValue("(O(O))", copy_function, ((struct hook *)self)->original);
}

static PyMethodDef hook_methods[] = {{"__reduce_ex__", reduce_hook, METH_O, NULL}, {NULL, NULL, 0, NULL}};
static PyType_Slot hook_slots[] = {
    {Py_tp_methods, hook_methods},
    {Py_tp_new, (void *)new_hook},
    {Py_tp_dealloc, (void *)free_hook},
    {Py_tp_call, (void *)call_hook},
    {Py_tp_descr_get, (void *)bind_hook},
    {Py_tp_getattro, (void *)get_of_original},
    {0, NULL},
};
static PyType_Spec hook_spec = {
    .name = "tfdarshan.native._batches.Hook",
    .basicsize = sizeof(struct hook),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = hook_slots,
};
/* A copy of an iterator, also by pickle, is in no pass yet. */
static PyObject *reduce_pass(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return Py_BuildValue("(O())", (PyObject *)Py_TYPE(Py_None));
}

static PyMethodDef pass_methods[] = {{"__reduce__", reduce_pass, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyType_Slot pass_slots[] = {
    {Py_tp_dealloc, (void *)free_pass},
    {Py_tp_methods, pass_methods},
    {0, NULL},
};
static PyType_Spec pass_spec = {
    .name = "tfdarshan.native._batches.Pass",
    .basicsize = sizeof(struct pass),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = pass_slots,
};

static void keep(PyObject **place, PyObject *object)
{
    PyObject *before = *place;
    Py_XINCREF(object);
    *place = object;
    Py_XDECREF(before);
}

/* begin(folder, on_pass, ahead_ns): what CLOCK_REALTIME was ahead of CLOCK_MONOTONIC as the session began; by default it
 * begins now. */
static PyObject *begin(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *folder, *describe;
    long long ahead_ns = tfd_realtime_ahead_ns();
    if (!PyArg_ParseTuple(args, "O&O|L", PyUnicode_FSConverter, &folder, &describe, &ahead_ns))
        return NULL;
    keep(&on_pass, describe == Py_None ? NULL : describe);
    fetchers = 0;
    tfd_batch_log_begin(PyBytes_AsString(folder), ahead_ns);
    Py_DECREF(folder);
    Py_RETURN_NONE;
}

static PyObject *ahead(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyLong_FromLongLong(tfd_batch_log_ahead_ns());
}

static PyObject *now(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyLong_FromLongLong(tfd_batch_log_now());
}

/* The module whose _worker_info says which worker a process is. */
static PyObject *set_workers(PyObject *module, PyObject *workers)
{
    (void)module;
    keep(&worker_module, workers);
    Py_RETURN_NONE;
}

/* set_waits(begin): called as a wait begins, it returns what is called at the wait's end with both times, or None. */
static PyObject *set_waits(PyObject *module, PyObject *begins)
{
    (void)module;
    keep(&on_wait, begins);
    Py_RETURN_NONE;
}

/* set_first(tell): called with the number of each pass, and with its first batch. */
static PyObject *set_first(PyObject *module, PyObject *tells)
{
    (void)module;
    keep(&on_first, tells);
    Py_RETURN_NONE;
}

/* note_exposed(begin_ns, exposed_ns): how long the GPU was idle in the wait that began then. */
static PyObject *note_exposed(PyObject *module, PyObject *args)
{
    (void)module;
    long long begin_ns, exposed_ns;
    if (!PyArg_ParseTuple(args, "LL", &begin_ns, &exposed_ns))
        return NULL;
    meet_process();
    struct tfd_batch_times times = {
        .begin_ns = begin_ns, .end_ns = begin_ns + exposed_ns, .pass = -1, .worker = -1};
    tfd_batch_log_add(TFD_BATCH_EXPOSED, TFD_BATCH_CAME, times);
    Py_RETURN_NONE;
}

static PyObject *end(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    tfd_batch_log_end();
    keep(&on_pass, NULL);
    keep(&on_first, NULL);
    keep(&on_wait, NULL);
    Py_RETURN_NONE;
}

static PyObject *note(PyObject *module, PyObject *args)
{
    (void)module;
    const char *text;
    Py_ssize_t length;
    if (!PyArg_ParseTuple(args, "y#", &text, &length))
        return NULL;
    meet_process();
    tfd_batch_log_note(text, (size_t)length);
    Py_RETURN_NONE;
}

/* optimizer_step(id): called by PyTorch behind each step of an optimizer. */
static PyObject *optimizer_step(PyObject *module, PyObject *id)
{
    (void)module;
    uint64_t number = PyLong_AsUnsignedLongLongMask(id);
    if (PyErr_Occurred())
        return NULL;
    meet_process();
    int64_t now_ns = tfd_batch_log_now();
    struct tfd_batch_times times = {.begin_ns = now_ns, .end_ns = now_ns, .pass = -1, .worker = -1};
    /* No other living optimizer has it, but for its highest bits. */
    times.ordinal = (int32_t)(number / sizeof(max_align_t));
    tfd_batch_log_add(TFD_BATCH_OPTIMIZER, TFD_BATCH_CAME, times);
    Py_RETURN_NONE;
}

/* step(number, begin_ns, end_ns, wait_ns, rchar, read_bytes, epoch, source, loop): called for every step of a loop. */
static PyObject *step(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    int64_t values[9];
    if (count != sizeof values / sizeof *values) {
        PyErr_SetString(PyExc_TypeError, "step() takes 9 numbers");
        return NULL;
    }
    for (Py_ssize_t place = 0; place < count; place++)
        values[place] = (int64_t)PyLong_AsUnsignedLongLongMask(args[place]);
    if (PyErr_Occurred())
        return NULL;
    meet_process();
    struct tfd_batch_step noted = {
        .number = values[0],
        .begin_ns = values[1],
        .end_ns = values[2],
        .wait_ns = values[3],
        .rchar = values[4],
        .read_bytes = values[5],
        .epoch = (int32_t)values[6],
        .source = (int32_t)values[7],
    };
    tfd_batch_log_add_step((int32_t)values[8], noted);
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"begin", begin, METH_VARARGS, NULL},
    {"ahead", ahead, METH_NOARGS, NULL},
    {"now", now, METH_NOARGS, NULL},
    {"set_workers", set_workers, METH_O, NULL},
    {"set_first", set_first, METH_O, NULL},
    {"set_waits", set_waits, METH_O, NULL},
    {"note_exposed", note_exposed, METH_VARARGS, NULL},
    {"end", end, METH_NOARGS, NULL},
    {"note", note, METH_VARARGS, NULL},
    {"step", (PyCFunction)(void (*)(void))step, METH_FASTCALL, NULL},
    {"optimizer_step", optimizer_step, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_batches",
    .m_size = -1,
    .m_methods = functions,
};

static bool make_names(void)
{
    struct {
        PyObject **place;
        const char *text;
    } names[] = {
        {&pass_name, "_tfdarshan_pass"},
        {&sampler_name, "_index_sampler"},
        {&queue_name, "_data_queue"},
        {&size_name, "qsize"},
        {&tasks_name, "_task_info"},
        {&worker_name, "_worker_info"},
        {&id_name, "id"},
        {&turn_name, "_rcvd_idx"},
    };
    for (size_t place = 0; place < sizeof names / sizeof *names; place++)
        if (!*names[place].place && !(*names[place].place = PyUnicode_InternFromString(names[place].text)))
            return false;
    return true;
}

static PyObject *imported(const char *module, const char *name)
{
    PyObject *found = PyImport_ImportModule(module), *value = NULL;
    if (found)
        value = PyObject_GetAttrString(found, name);
    Py_XDECREF(found);
    return value;
}

PyMODINIT_FUNC PyInit__batches(void)
{
    PyObject *module = PyModule_Create(&definition);
    PyObject *hook_type = module ? PyType_FromSpec(&hook_spec) : NULL;
    pass_type = hook_type ? (PyTypeObject *)PyType_FromSpec(&pass_spec) : NULL;
    method_type = pass_type ? imported("types", "MethodType") : NULL;
    copy_function = method_type ? imported("copy", "copy") : NULL;
    if (!copy_function || !make_names() || PyModule_AddObjectRef(module, "Hook", hook_type) < 0 ||
        PyModule_AddIntConstant(module, "ITER", HOOK_ITER) < 0 ||
        PyModule_AddIntConstant(module, "NEXT", HOOK_NEXT) < 0 ||
        PyModule_AddIntConstant(module, "WORKER", HOOK_WORKER) < 0 ||
        PyModule_AddIntConstant(module, "FETCH", HOOK_FETCH) < 0) {
        Py_XDECREF(module);
        module = NULL;
    }
    Py_XDECREF(hook_type);
    return module;
}
