/* The metrics of ocdm/metrics.h on arrays: what the module ocdm.metrics calls. */
#include "module.h"

#include <string.h>

#include "ocdm/metrics.h"

/* A buffer of `size` bytes; ValueError for another size. */
static bool take(PyObject *object, Py_buffer *view, size_t size, const char *what)
{
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS) < 0)
        return false;
    if ((size_t)view->len == size)
        return true;
    PyErr_Format(PyExc_ValueError, "%s: %zd bytes, not %zu", what, view->len, size);
    PyBuffer_Release(view);
    return false;
}

/* Scores and labels as arguments: released together. */
struct test_set {
    Py_buffer scores;
    struct ocdm__names names;
    struct ocdm__batch batch;
    ocdm_test_set set; /* of the two above */
    PyObject *group;   /* None: all classes */
    unsigned char wanted;
};

static void release_set(struct test_set *test)
{
    PyBuffer_Release(&test->scores);
    ocdm__names_clear(&test->names);
    ocdm__batch_clear(&test->batch);
}

/* Reads (scores, samples, classes, labels, threshold=0, groups=None, wanted=0). False with an exception for what is no test
 * set; else release_set frees it. */
static bool take_set(struct test_set *test, PyObject *args)
{
    PyObject *scores, *labels, *group = Py_None;
    Py_ssize_t samples, classes;
    float threshold = 0;
    unsigned char wanted = 0;
    if (!PyArg_ParseTuple(args, "OnnO|fOb", &scores, &samples, &classes, &labels, &threshold, &group, &wanted))
        return false;
    *test = (struct test_set){
        .names.columns = classes == 1, .group = group, .wanted = wanted}; /* integers [n, 1] have one meaning */
    if (classes > PY_SSIZE_T_MAX / (Py_ssize_t)sizeof(ocdm_class_score))  /* of no samples */
        return PyErr_NoMemory() != NULL;
    if (!take(scores, &test->scores, (size_t)samples * (size_t)classes * sizeof(float), "scores"))
        return false;
    if (ocdm__batch_read(&test->batch, &test->names, Py_None, labels, Py_None, 0)) {
        if (test->names.kind == OCDM__NAMES)
            PyErr_SetString(PyExc_ValueError, "labels must be numbers of columns of the scores, not strings");
        else if (test->names.columns > 0 && test->names.columns != classes)
            PyErr_Format(PyExc_ValueError, "there are scores of %zd classes and labels of %zd", classes, test->names.columns);
        else if (test->batch.count != (size_t)samples)
            PyErr_Format(PyExc_ValueError, "there are scores of %zd samples and labels of %zu", samples, test->batch.count);
    }
    test->set = (ocdm_test_set){.size = sizeof test->set,
                                .logits = test->scores.buf,
                                .samples = (size_t)samples,
                                .classes = (size_t)classes,
                                .label_starts = test->batch.offsets,
                                .labels = test->batch.labels,
                                .threshold = threshold};
    if (PyErr_Occurred() == NULL)
        return true;
    release_set(test);
    return false;
}

/* _score(...): an ocdm_class_score of each class, as bytes. */
PyObject *ocdm__metrics_score(PyObject *module, PyObject *args)
{
    (void)module;
    struct test_set test;
    ocdm_error error = {0};
    if (!take_set(&test, args))
        return NULL;
    PyObject *result = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(test.set.classes * sizeof(ocdm_class_score)));
    ocdm_class_score *found = result != NULL ? (ocdm_class_score *)(void *)PyBytes_AsString(result) : NULL;
    if (result != NULL && ocdm_score_classes(&test.set, found, &error) != OCDM_OK) {
        Py_CLEAR(result);
        ocdm__raise(&error);
    }
    release_set(&test);
    return result;
}

/* How many metrics there are. */
static size_t metric_count(void)
{
    size_t count = 0;
    while (ocdm_metric_name((ocdm_metric)count) != NULL)
        count++;
    return count;
}

/* A list with the value of each metric; `group` NULL: of all classes. */
static PyObject *measure(const ocdm_test_set *set, const uint8_t *group, uint8_t wanted)
{
    size_t count = metric_count();
    ocdm_error error = {0};
    double *values = PyMem_Calloc(count, sizeof *values);
    if (values == NULL)
        return PyErr_NoMemory();
    bool done = ocdm_measure(set, group, wanted, values, count, &error) == OCDM_OK;
    PyObject *list = done ? PyList_New(0) : ocdm__raise(&error);
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *value = PyFloat_FromDouble(values[i]);
        if (value == NULL || PyList_Append(list, value) < 0)
            Py_CLEAR(list);
        Py_XDECREF(value);
    }
    PyMem_Free(values);
    return list;
}

/* _measure(...): each metric over all classes, or those of a group. */
PyObject *ocdm__metrics_measure(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *result = NULL;
    Py_buffer groups;
    struct test_set test;
    if (!take_set(&test, args))
        return NULL;
    if (test.group == Py_None) {
        result = measure(&test.set, NULL, 0);
    } else if (take(test.group, &groups, test.set.classes, "groups")) {
        result = measure(&test.set, groups.buf, test.wanted);
        PyBuffer_Release(&groups);
    }
    release_set(&test);
    return result;
}

/* _average_precision(scores, positive): of one class. */
PyObject *ocdm__metrics_precision(PyObject *module, PyObject *args)
{
    (void)module;
    Py_buffer scores, positive;
    PyObject *other, *result = NULL;
    ocdm_error error = {0};
    double ap;
    if (!PyArg_ParseTuple(args, "y*O", &scores, &other))
        return NULL;
    size_t count = (size_t)scores.len / sizeof(float);
    if (take(other, &positive, count, "positive")) {
        if (ocdm_average_precision(scores.buf, positive.buf, count, &ap, &error) == OCDM_OK)
            result = PyFloat_FromDouble(ap);
        else
            ocdm__raise(&error);
        PyBuffer_Release(&positive);
    }
    PyBuffer_Release(&scores);
    return result;
}

/* _forgetting(map, evaluations, tasks): the mean, and the bytes of a double for each task. */
PyObject *ocdm__metrics_forgetting(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *map, *result = NULL;
    Py_ssize_t evaluations, tasks;
    Py_buffer view;
    ocdm_error error = {0};
    double mean;
    if (!PyArg_ParseTuple(args, "Onn", &map, &evaluations, &tasks) ||
        !take(map, &view, (size_t)evaluations * (size_t)tasks * sizeof(double), "map"))
        return NULL;
    PyObject *each = PyBytes_FromStringAndSize(NULL, tasks * (Py_ssize_t)sizeof(double));
    if (each != NULL && ocdm_forgetting(view.buf, (size_t)evaluations, (size_t)tasks, (double *)(void *)PyBytes_AsString(each),
                                        &mean, &error) == OCDM_OK)
        result = Py_BuildValue("dO", mean, each);
    else if (each != NULL)
        ocdm__raise(&error);
    Py_XDECREF(each);
    PyBuffer_Release(&view);
    return result;
}

/* _best_threshold(...): of the logits. */
PyObject *ocdm__metrics_threshold(PyObject *module, PyObject *args)
{
    (void)module;
    struct test_set test;
    ocdm_error error = {0};
    float threshold;
    if (!take_set(&test, args))
        return NULL;
    bool done = ocdm_best_threshold(&test.set, &threshold, &error) == OCDM_OK;
    release_set(&test);
    return done ? PyFloat_FromDouble((double)threshold) : ocdm__raise(&error);
}

/* _transfer(map, evaluations, tasks, before): backward and forward; `before` has a row of each task's value just before it is
 * learnt and one of an untrained model's. */
PyObject *ocdm__metrics_transfer(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *map, *rows, *result = NULL;
    Py_ssize_t evaluations, tasks;
    Py_buffer view, before;
    ocdm_error error = {0};
    double backward, forward;
    if (!PyArg_ParseTuple(args, "OnnO", &map, &evaluations, &tasks, &rows) ||
        !take(map, &view, (size_t)evaluations * (size_t)tasks * sizeof(double), "maps"))
        return NULL;
    if (take(rows, &before, 2 * (size_t)tasks * sizeof(double), "ahead and fresh")) {
        const double *ahead = before.buf;
        if (ocdm_transfer(view.buf, (size_t)evaluations, (size_t)tasks, ahead, ahead + tasks, &backward, &forward, &error) ==
            OCDM_OK)
            result = Py_BuildValue("dd", backward, forward);
        else
            ocdm__raise(&error);
        PyBuffer_Release(&before);
    }
    PyBuffer_Release(&view);
    return result;
}

/* _metric_names(): in the order of their numbers. */
PyObject *ocdm__metrics_names(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyObject *names = PyList_New(0);
    for (int i = 0; names != NULL && ocdm_metric_name((ocdm_metric)i) != NULL; i++) {
        PyObject *name = PyUnicode_FromString(ocdm_metric_name((ocdm_metric)i));
        if (name == NULL || PyList_Append(names, name) < 0)
            Py_CLEAR(names);
        Py_XDECREF(name);
    }
    return names;
}
