/*
 * Stream files: the tables and the features or images as read-only buffers over the mapped file, which live as long as anything
 * refers to them.
 */
#include "module.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/files.h"
#include "ocdm/stream.h"

/* ---- files that become shorter ----------------------------------------------------------------------------------------- */

/*
 * Reading a page that the file no longer has raises SIGBUS, anywhere in NumPy, PyTorch or the library. A page of zeros takes
 * its place, so that the read ends, and the main thread raises OSError before its next instruction of Python.
 */

static const char *volatile lost_file; /* NULL: none, or OSError was raised already */
static struct sigaction handler_before;

/* 0, or -1 with OSError. */
static int raise_lost_file(void *unused)
{
    (void)unused;
    const char *name = lost_file;
    lost_file = NULL;
    if (name == NULL)
        return 0;
    PyErr_Format(PyExc_OSError,
                 "%s: the file became shorter, or its disk failed, while it was in use; what was read is not valid", name);
    return -1;
}

static void replace_lost_page(int number, siginfo_t *facts, void *context)
{
    (void)context;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *at = (char *)facts->si_addr - (uintptr_t)facts->si_addr % page;
    const char *name = facts->si_code > 0 ? ocdm__mapped_file_at(facts->si_addr) : NULL;
    if (name != NULL && mmap(at, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at) {
        lost_file = name;
        Py_AddPendingCall(raise_lost_file, NULL);
        return;
    }
    sigaction(number, &handler_before, NULL); /* not ours: the instruction, or the signal, comes again */
    handler_before = (struct sigaction){.sa_handler = SIG_DFL};
    if (facts->si_code <= 0)
        raise(number);
}

static void catch_lost_pages(void)
{
    struct sigaction action = {.sa_sigaction = replace_lost_page, .sa_flags = SA_SIGINFO | SA_ONSTACK}, now;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGBUS, NULL, &now) != 0 || ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == replace_lost_page))
        return;
    handler_before = now;
    sigaction(SIGBUS, &action, NULL);
}

/* ---- a view ------------------------------------------------------------------------------------------------------------ */

/* Bytes of a stream, through the buffer protocol. */
typedef struct view_object {
    PyObject ob_base;
    PyObject *stream; /* kept open */
    void *bytes;
    Py_ssize_t size;
} view_object;

static PyTypeObject *view_type;

static void view_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((view_object *)self)->stream);
    PyObject_Free(self);
    Py_DECREF(type);
}

static int view_get(PyObject *self, Py_buffer *buffer, int flags)
{
    view_object *view = (view_object *)self;
    return PyBuffer_FillInfo(buffer, self, view->bytes, view->size, 1, flags);
}

static PyType_Slot view_slots[] = {
    {Py_tp_dealloc, (void *)view_dealloc},
    {Py_bf_getbuffer, (void *)view_get},
    {0, NULL},
};

static PyType_Spec view_spec = {.name = "ocdm._ocdm.View",
                                .basicsize = sizeof(view_object),
                                .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                .slots = view_slots};

static PyObject *view_of(PyObject *stream, const void *bytes, size_t size)
{
    if (bytes == NULL)
        return Py_NewRef(Py_None);
    view_object *view = PyObject_New(view_object, view_type);
    if (view == NULL)
        return NULL;
    view->stream = Py_NewRef(stream);
    view->bytes = (void *)(uintptr_t)bytes;
    view->size = (Py_ssize_t)size;
    return (PyObject *)view;
}

/* ---- a stream ---------------------------------------------------------------------------------------------------------- */

typedef struct stream_object {
    PyObject ob_base;
    ocdm_stream *stream;
} stream_object;

static PyTypeObject *stream_type;

static const ocdm_stream_tables *tables_of(PyObject *self)
{
    return ocdm_stream_look(((stream_object *)self)->stream);
}

const ocdm_stream *ocdm__stream_of(PyObject *object)
{
    if (PyObject_TypeCheck(object, stream_type))
        return ((stream_object *)object)->stream;
    PyErr_Format(PyExc_TypeError, "a stream must be an open file, not %R", (PyObject *)Py_TYPE(object));
    return NULL;
}

static PyObject *stream_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"path", NULL};
    PyObject *path = NULL;
    ocdm_error error = {0};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&", names, PyUnicode_FSConverter, &path))
        return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    stream_object *self = (stream_object *)allocate(type, 0);
    ocdm_status status = OCDM_OK;
    catch_lost_pages();
    if (self != NULL)
        status = ocdm_stream_open(PyBytes_AsString(path), &self->stream, &error);
    Py_DECREF(path);
    if (status == OCDM_OK)
        return (PyObject *)self;
    Py_DECREF(self);
    return ocdm__raise(&error);
}

static void stream_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    ocdm_stream_close(((stream_object *)self)->stream);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

/* tables(): what the class in Python makes attributes of. */
static PyObject *stream_tables(PyObject *self, PyObject *unused)
{
    const ocdm_stream_tables *t = tables_of(self);
    (void)unused;
    size_t elements = t->kind == OCDM_STREAM_IMAGES ? t->channels * t->height * t->width : t->width;
    return Py_BuildValue(
        "{s:n,s:n,s:n,s:i,s:n,s:n,s:n,s:n,s:z,s:s,s:N,s:N,s:N,s:N,s:N,s:N,s:N}", "samples", (Py_ssize_t)t->samples, "classes",
        (Py_ssize_t)t->classes, "tasks", (Py_ssize_t)t->tasks, "kind", (int)t->kind, "element_bytes",
        (Py_ssize_t)t->element_bytes, "width", (Py_ssize_t)t->width, "height", (Py_ssize_t)t->height, "channels",
        (Py_ssize_t)t->channels, "image_root", t->image_root, "checksum", t->checksum, "label_starts",
        view_of(self, t->label_starts, (t->samples + 1) * sizeof *t->label_starts), "labels",
        view_of(self, t->labels, (size_t)t->label_starts[t->samples] * sizeof *t->labels), "task",
        view_of(self, t->task, t->samples * sizeof *t->task), "test", view_of(self, t->test, t->samples), "group",
        view_of(self, t->group, t->classes), "known", view_of(self, t->known, t->samples * t->known_bytes), "data",
        view_of(self, t->data, t->samples * elements * t->element_bytes));
}

/* Sets the columns of the labels of a sample to 1. */
static void mark(const ocdm_stream_tables *t, size_t sample, float *row)
{
    for (uint64_t k = t->label_starts[sample]; k < t->label_starts[sample + 1]; k++)
        row[t->labels[k]] = 1;
}

/* targets(samples): a row of floats for each sample, as bytes; samples is a buffer of int64. */
static PyObject *stream_targets(PyObject *self, PyObject *samples)
{
    const ocdm_stream_tables *t = tables_of(self);
    Py_buffer view;
    if (PyObject_GetBuffer(samples, &view, PyBUF_C_CONTIGUOUS) < 0)
        return NULL;
    size_t count = (size_t)view.len / sizeof(int64_t), size = count * t->classes * sizeof(float);
    PyObject *rows = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (rows != NULL && size > 0)
        memset(PyByteArray_AsString(rows), 0, size);
    for (size_t i = 0; rows != NULL && i < count; i++) {
        int64_t sample;
        memcpy(&sample, (const char *)view.buf + i * sizeof sample, sizeof sample);
        if (sample >= 0 && (uint64_t)sample < t->samples) {
            mark(t, (size_t)sample, (float *)(void *)PyByteArray_AsString(rows) + i * t->classes);
            continue;
        }
        PyErr_Format(PyExc_IndexError, "the stream has %zu samples, there is no %lld", t->samples, (long long)sample);
        Py_CLEAR(rows);
    }
    PyBuffer_Release(&view);
    return rows;
}

typedef const char *text_function(const ocdm_stream *stream, size_t i, size_t *length);

static PyObject *text_at(PyObject *self, text_function *text, size_t i)
{
    size_t length = 0;
    const char *bytes = text(((stream_object *)self)->stream, i, &length);
    return bytes != NULL ? PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)length, "surrogateescape") : Py_NewRef(Py_None);
}

static PyObject *list_texts(PyObject *self, text_function *text, size_t count)
{
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *item = text_at(self, text, i);
        if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *stream_ids(PyObject *self, PyObject *unused)
{
    (void)unused;
    return list_texts(self, ocdm_stream_id, tables_of(self)->samples);
}

static PyObject *stream_class_names(PyObject *self, PyObject *unused)
{
    (void)unused;
    return list_texts(self, ocdm_stream_class_name, tables_of(self)->classes);
}

static PyObject *stream_image_paths(PyObject *self, PyObject *unused)
{
    (void)unused;
    return list_texts(self, ocdm_stream_image_path, tables_of(self)->samples);
}

static PyObject *stream_verify(PyObject *self, PyObject *unused)
{
    ocdm_error error = {0};
    ocdm_status status;
    (void)unused;
    Py_BEGIN_ALLOW_THREADS;
    status = ocdm_stream_verify(((stream_object *)self)->stream, &error);
    Py_END_ALLOW_THREADS;
    if (raise_lost_file(NULL) < 0)
        return NULL;
    return status == OCDM_OK ? Py_NewRef(Py_None) : ocdm__raise(&error);
}

static PyMethodDef stream_methods[] = {
    {"tables", stream_tables, METH_NOARGS, NULL},
    {"targets", stream_targets, METH_O, NULL},
    {"ids", stream_ids, METH_NOARGS, NULL},
    {"class_names", stream_class_names, METH_NOARGS, NULL},
    {"image_paths", stream_image_paths, METH_NOARGS, NULL},
    {"verify", stream_verify, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot stream_slots[] = {
    {Py_tp_new, (void *)stream_new},
    {Py_tp_dealloc, (void *)stream_dealloc},
    {Py_tp_methods, stream_methods},
    {0, NULL},
};

static PyType_Spec stream_spec = {
    .name = "ocdm._ocdm.StreamFile", .basicsize = sizeof(stream_object), .flags = Py_TPFLAGS_DEFAULT, .slots = stream_slots};

bool ocdm__add_stream_types(PyObject *module)
{
    view_type = ocdm__add_type(module, &view_spec);
    stream_type = view_type != NULL ? ocdm__add_type(module, &stream_spec) : NULL;
    return stream_type != NULL;
}
