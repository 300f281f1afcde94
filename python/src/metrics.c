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

static PyObject *score(const float *logits, size_t samples, size_t classes, const struct ocdm__batch *batch)
{
    const ocdm_test_set set = {.size = sizeof set,
                               .logits = logits,
                               .samples = samples,
                               .classes = classes,
                               .label_starts = batch->offsets,
                               .labels = batch->labels};
    ocdm_error error = {0};
    PyObject *result = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(classes * sizeof(ocdm_class_score)));
    if (result == NULL)
        return NULL;
    memset(PyBytes_AsString(result), 0, classes * sizeof(ocdm_class_score));
    ocdm_class_score *scores = (ocdm_class_score *)(void *)PyBytes_AsString(result);
    if (ocdm_score_classes(&set, scores, &error) == OCDM_OK)
        return result;
    Py_DECREF(result);
    return ocdm__raise(&error);
}

/* _score(scores, samples, classes, labels): an ocdm_class_score of each class, as bytes. */
PyObject *ocdm__metrics_score(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *scores, *labels, *result = NULL;
    Py_ssize_t samples, classes;
    Py_buffer view;
    struct ocdm__names names = {0};
    struct ocdm__batch batch = {0};
    if (!PyArg_ParseTuple(args, "OnnO", &scores, &samples, &classes, &labels) ||
        !take(scores, &view, (size_t)samples * (size_t)classes * sizeof(float), "scores"))
        return NULL;
    if (ocdm__batch_read(&batch, &names, Py_None, labels, 0)) {
        if (names.kind == OCDM__NAMES)
            PyErr_SetString(PyExc_ValueError, "labels must be numbers of columns of the scores, not strings");
        else if (batch.count != (size_t)samples)
            PyErr_Format(PyExc_ValueError, "there are scores of %zd samples and labels of %zu", samples, batch.count);
        else
            result = score(view.buf, (size_t)samples, (size_t)classes, &batch);
    }
    PyBuffer_Release(&view);
    ocdm__names_clear(&names);
    ocdm__batch_clear(&batch);
    return result;
}

/* _average(metric, scores, group=None, wanted=0): over all classes, or those of a group. */
PyObject *ocdm__metrics_average(PyObject *module, PyObject *args)
{
    (void)module;
    int metric;
    unsigned char wanted = 0;
    PyObject *group = Py_None;
    Py_buffer scores, groups;
    double value;
    if (!PyArg_ParseTuple(args, "iy*|Ob", &metric, &scores, &group, &wanted))
        return NULL;
    size_t classes = (size_t)scores.len / sizeof(ocdm_class_score);
    bool all = group == Py_None;
    if (!all && !take(group, &groups, classes, "groups")) {
        PyBuffer_Release(&scores);
        return NULL;
    }
    value = all ? ocdm_average((ocdm_metric)metric, scores.buf, classes)
                : ocdm_average_group((ocdm_metric)metric, scores.buf, classes, groups.buf, wanted);
    if (!all)
        PyBuffer_Release(&groups);
    PyBuffer_Release(&scores);
    return PyFloat_FromDouble(value);
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
