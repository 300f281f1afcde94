/* The experiment around a model in Python: the loop of ocdm/experiment.h as an object. ocdm.Run is made of it. */
#include "module.h"

#include <string.h>

#include "ocdm/experiment.h"

typedef struct loop_object {
    PyObject ob_base;
    ocdm_loop *loop;    /* NULL once it is closed */
    PyObject *stream;   /* these must outlive the loop */
    PyObject *texts;    /* list of bytes: folder, name, then names and values of settings */
    PyObject *notes;    /* list of str: messages for the user */
    PyObject *gradient; /* called with an array of samples, returns a buffer of gradient_size floats; or None */
    size_t gradient_size;
    bool busy; /* inside the library, which may be calling `gradient` */
} loop_object;

static void note(void *state, const char *text)
{
    PyObject *line = PyUnicode_FromString(text);
    if (line == NULL || PyList_Append(((loop_object *)state)->notes, line) < 0)
        PyErr_Clear(); /* out of memory: the note is lost, the run continues */
    Py_XDECREF(line);
}

/* ---- gradients --------------------------------------------------------------------------------------------------------- */

static PyObject *sample_array(const uint32_t *samples, size_t count)
{
    int64_t *wide = PyMem_Malloc((count + 1) * sizeof *wide);
    if (wide == NULL)
        return PyErr_NoMemory();
    for (size_t i = 0; i < count; i++)
        wide[i] = samples[i];
    PyObject *array = ocdm__int64_array(wide, count);
    PyMem_Free(wide);
    return array;
}

/* An exception stays set; whoever called the library raises it. */
static ocdm_status gradient(void *state, const ocdm_learner_batch *batch, float *room, ocdm_error *error)
{
    loop_object *self = state;
    Py_buffer view;
    ocdm_status status = OCDM_BAD_ARGUMENT;
    (void)error;
    PyObject *samples = sample_array(batch->samples, batch->count);
    PyObject *made = samples != NULL ? PyObject_CallFunctionObjArgs(self->gradient, samples, NULL) : NULL;
    if (made != NULL && PyObject_GetBuffer(made, &view, PyBUF_C_CONTIGUOUS) == 0) {
        if ((size_t)view.len == self->gradient_size * sizeof *room) {
            memcpy(room, view.buf, (size_t)view.len);
            status = OCDM_OK;
        } else {
            PyErr_Format(PyExc_ValueError, "gradient must return %zu numbers, not %zd", self->gradient_size,
                         view.len / (Py_ssize_t)sizeof *room);
        }
        PyBuffer_Release(&view);
    }
    Py_XDECREF(samples);
    Py_XDECREF(made);
    return status;
}

/* ---- opening and closing ----------------------------------------------------------------------------------------------- */

static void close_loop(loop_object *self)
{
    ocdm_loop *loop = self->loop;
    self->loop = NULL;
    ocdm_loop_close(loop);
}

static void loop_dealloc(PyObject *object)
{
    loop_object *self = (loop_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    close_loop(self);
    Py_XDECREF(self->stream);
    Py_XDECREF(self->texts);
    Py_XDECREF(self->notes);
    Py_XDECREF(self->gradient);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

/* The gradient function usually refers to the model, and that may refer to the run. */
static int loop_traverse(PyObject *object, visitproc visit, void *arg)
{
    loop_object *self = (loop_object *)object;
    Py_VISIT(self->stream);
    Py_VISIT(self->texts);
    Py_VISIT(self->notes);
    Py_VISIT(self->gradient);
    Py_VISIT(Py_TYPE(object));
    return 0;
}

static int loop_clear(PyObject *object)
{
    loop_object *self = (loop_object *)object;
    close_loop(self);
    Py_CLEAR(self->gradient);
    return 0;
}

static const char *text_of(const loop_object *self, Py_ssize_t i)
{
    return PyBytes_AsString(PyList_GetItem(self->texts, i));
}

/* Opens the run that the texts describe. False with the exception. */
static bool open_loop(loop_object *self, bool resume)
{
    const ocdm_stream *stream = ocdm__stream_of(self->stream);
    Py_ssize_t count = PyList_Size(self->texts);
    ocdm_error error = {0};
    if (stream == NULL)
        return false;
    const char **settings = PyMem_Malloc((size_t)count * sizeof *settings);
    if (settings == NULL)
        return PyErr_NoMemory() != NULL;
    for (Py_ssize_t i = 2; i < count; i++)
        settings[i - 2] = text_of(self, i);
    settings[count - 2] = NULL;
    const ocdm_learner learner = {.size = sizeof learner,
                                  .name = text_of(self, 1),
                                  .state = self,
                                  .gradient = self->gradient != Py_None ? gradient : NULL,
                                  .gradient_size = self->gradient_size};
    ocdm_experiment experiment = ocdm_experiment_default();
    experiment.folder = text_of(self, 0);
    experiment.settings = settings;
    experiment.resume = resume;
    experiment.note = note;
    experiment.note_state = self;
    ocdm_status status = ocdm_loop_open(&experiment, stream, &learner, &self->loop, &error);
    PyMem_Free(settings);
    return status == OCDM_OK || ocdm__raise(&error) != NULL;
}

static bool check_texts(PyObject *texts)
{
    char *text;
    bool fine = PyList_Size(texts) >= 2 && PyList_Size(texts) % 2 == 0;
    for (Py_ssize_t i = 0; fine && i < PyList_Size(texts); i++)
        fine = PyBytes_AsStringAndSize(PyList_GetItem(texts, i), &text, NULL) == 0; /* ValueError for a NUL */
    if (!fine && PyErr_Occurred() == NULL)
        PyErr_SetString(PyExc_TypeError, "the texts of a loop are bytes: folder, name, and pairs of settings");
    return fine;
}

/* Loop(stream, texts, resume, gradient, gradient_size) */
static PyObject *loop_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *stream, *texts, *gradient_function;
    Py_ssize_t gradient_size;
    int resume;
    (void)keywords;
    if (!PyArg_ParseTuple(args, "OO!pOn", &stream, &PyList_Type, &texts, &resume, &gradient_function, &gradient_size) ||
        !check_texts(texts))
        return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    loop_object *self = (loop_object *)allocate(type, 0);
    if (self == NULL)
        return NULL;
    self->stream = Py_NewRef(stream);
    self->texts = Py_NewRef(texts);
    self->gradient = Py_NewRef(gradient_function);
    self->gradient_size = gradient_size > 0 ? (size_t)gradient_size : 0;
    self->notes = PyList_New(0);
    if (self->notes != NULL && open_loop(self, resume != 0))
        return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

/* ---- steps ------------------------------------------------------------------------------------------------------------- */

/* Begins a call of the library; false with RuntimeError. */
static bool enter(loop_object *self)
{
    if (self->loop == NULL)
        PyErr_SetString(PyExc_RuntimeError, "the run is closed");
    else if (self->busy)
        PyErr_SetString(PyExc_RuntimeError, "the run is in use: a gradient function must not go on with it");
    else
        self->busy = true;
    return self->loop != NULL && !PyErr_Occurred();
}

/* Ends it: None, or the exception. One that a gradient function raised comes first. */
static PyObject *leave(loop_object *self, ocdm_status status, const ocdm_error *error)
{
    self->busy = false;
    if (PyErr_Occurred())
        return NULL;
    return status == OCDM_OK ? Py_NewRef(Py_None) : ocdm__raise(error);
}

static PyObject *loop_saved(PyObject *object, PyObject *unused)
{
    loop_object *self = (loop_object *)object;
    size_t size = 0;
    (void)unused;
    if (!enter(self))
        return NULL;
    const void *bytes = ocdm_loop_saved(self->loop, &size);
    self->busy = false;
    return bytes != NULL ? PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size) : Py_NewRef(Py_None);
}

/* (number, task, samples, new_count, evaluate, checkpoint, update), or None after the last step. */
static PyObject *loop_next(PyObject *object, PyObject *unused)
{
    loop_object *self = (loop_object *)object;
    ocdm_error error = {0};
    const ocdm_loop_step *step = NULL;
    (void)unused;
    if (!enter(self))
        return NULL;
    PyObject *none = leave(self, ocdm_loop_next(self->loop, &step, &error), &error);
    if (none == NULL || step == NULL)
        return none;
    Py_DECREF(none);
    PyObject *samples = sample_array(step->batch->samples, step->batch->count);
    if (samples == NULL)
        return NULL;
    return Py_BuildValue("KINnNNI", (unsigned long long)step->number, (unsigned)step->task, samples,
                         (Py_ssize_t)step->new_count, PyBool_FromLong(step->evaluate), PyBool_FromLong(step->checkpoint),
                         (unsigned)step->update);
}

static PyObject *loop_done(PyObject *object, PyObject *loss)
{
    loop_object *self = (loop_object *)object;
    ocdm_error error = {0};
    double value = PyFloat_AsDouble(loss);
    if ((value == -1 && PyErr_Occurred()) || !enter(self))
        return NULL;
    return leave(self, ocdm_loop_done(self->loop, value, &error), &error);
}

static PyObject *loop_tests(PyObject *object, PyObject *unused)
{
    loop_object *self = (loop_object *)object;
    size_t count = 0;
    (void)unused;
    if (!enter(self))
        return NULL;
    const uint32_t *tests = ocdm_loop_tests(self->loop, &count);
    self->busy = false;
    return sample_array(tests, count);
}

/* evaluate(scores): a buffer of floats, as many as the tests have classes together. */
static PyObject *loop_evaluate(PyObject *object, PyObject *scores)
{
    loop_object *self = (loop_object *)object;
    ocdm_error error = {0};
    Py_buffer view;
    size_t tests = 0;
    PyObject *result = NULL;
    if (!enter(self))
        return NULL;
    (void)ocdm_loop_tests(self->loop, &tests);
    size_t wanted = tests * ocdm_stream_look(ocdm__stream_of(self->stream))->classes * sizeof(float);
    self->busy = false;
    if (PyObject_GetBuffer(scores, &view, PyBUF_C_CONTIGUOUS) < 0)
        return NULL;
    self->busy = true;
    if ((size_t)view.len == wanted)
        result = leave(self, ocdm_loop_evaluate(self->loop, view.buf, &error), &error);
    else
        PyErr_Format(PyExc_ValueError, "%zu scores are wanted, not %zd", wanted / sizeof(float),
                     view.len / (Py_ssize_t)sizeof(float));
    self->busy = false;
    PyBuffer_Release(&view);
    return result;
}

/* The GIL is released: the bytes may be many. */
static PyObject *loop_checkpoint(PyObject *object, PyObject *bytes)
{
    loop_object *self = (loop_object *)object;
    ocdm_error error = {0};
    ocdm_status status;
    Py_buffer view;
    if (PyObject_GetBuffer(bytes, &view, PyBUF_C_CONTIGUOUS) < 0)
        return NULL;
    PyObject *result = NULL;
    if (enter(self)) {
        Py_BEGIN_ALLOW_THREADS;
        status = ocdm_loop_checkpoint(self->loop, view.buf, (size_t)view.len, &error);
        Py_END_ALLOW_THREADS;
        result = leave(self, status, &error);
    }
    PyBuffer_Release(&view);
    return result;
}

static PyObject *loop_notes(PyObject *object, PyObject *unused)
{
    (void)unused;
    return PyList_GetSlice(((loop_object *)object)->notes, 0, PY_SSIZE_T_MAX);
}

static PyObject *loop_close(PyObject *object, PyObject *unused)
{
    loop_object *self = (loop_object *)object;
    (void)unused;
    if (self->loop != NULL && !enter(self))
        return NULL;
    close_loop(self);
    self->busy = false;
    return Py_NewRef(Py_None);
}

static PyMethodDef loop_methods[] = {
    {"saved", loop_saved, METH_NOARGS, NULL},
    {"next", loop_next, METH_NOARGS, NULL},
    {"done", loop_done, METH_O, NULL},
    {"tests", loop_tests, METH_NOARGS, NULL},
    {"evaluate", loop_evaluate, METH_O, NULL},
    {"checkpoint", loop_checkpoint, METH_O, NULL},
    {"notes", loop_notes, METH_NOARGS, NULL},
    {"close", loop_close, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot loop_slots[] = {
    {Py_tp_new, (void *)loop_new},     {Py_tp_dealloc, (void *)loop_dealloc}, {Py_tp_traverse, (void *)loop_traverse},
    {Py_tp_clear, (void *)loop_clear}, {Py_tp_methods, loop_methods},         {0, NULL},
};

static PyType_Spec loop_spec = {.name = "ocdm._ocdm.Loop",
                                .basicsize = sizeof(loop_object),
                                .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                                .slots = loop_slots};

bool ocdm__add_loop_type(PyObject *module)
{
    return ocdm__add_type(module, &loop_spec) != NULL;
}
