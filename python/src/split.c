/* Splits and subsets of ocdm/split.h: what the module ocdm.stratify calls. */
#include "module.h"

#include "ocdm/split.h"

/* Label sets as arguments, and what is released with them. */
struct sets {
    struct ocdm__names names;
    struct ocdm__batch batch;
    Py_buffer groups;
    ocdm_label_sets sets;
};

static void release_sets(struct sets *given)
{
    if (given->groups.obj != NULL)
        PyBuffer_Release(&given->groups);
    ocdm__names_clear(&given->names);
    ocdm__batch_clear(&given->batch);
}

/* `groups`: None, or a buffer of uint32. False with an exception; release_sets in either case. */
static bool take_sets(struct sets *given, PyObject *labels, PyObject *groups)
{
    if (!ocdm__batch_read(&given->batch, &given->names, Py_None, labels, Py_None, 0))
        return false;
    if (groups != Py_None && PyObject_GetBuffer(groups, &given->groups, PyBUF_C_CONTIGUOUS) < 0)
        return false;
    if (groups != Py_None && (size_t)given->groups.len != given->batch.count * sizeof(uint32_t)) {
        PyErr_Format(PyExc_ValueError, "there are %zu groups and %zu label sets", (size_t)given->groups.len / sizeof(uint32_t),
                     given->batch.count);
        return false;
    }
    given->sets = (ocdm_label_sets){.size = sizeof given->sets,
                                    .count = given->batch.count,
                                    .offsets = given->batch.offsets,
                                    .labels = given->batch.labels,
                                    .groups = given->groups.buf};
    return true;
}

/* label_sets(labels): the offsets and labels of any form as arrays, and the list of names, or None when labels are numbers. */
PyObject *ocdm__label_sets(PyObject *module, PyObject *labels)
{
    (void)module;
    struct sets given = {0};
    PyObject *result = NULL;
    if (take_sets(&given, labels, Py_None)) {
        PyObject *offsets = ocdm__array(given.batch.offsets, (given.batch.count + 1) * sizeof(uint64_t), "uint64");
        PyObject *numbers = ocdm__array(given.batch.labels, given.batch.label_count * sizeof(uint32_t), "uint32");
        PyObject *names = given.names.kind == OCDM__NAMES ? given.names.list : Py_None;
        if (offsets != NULL && numbers != NULL)
            result = PyTuple_Pack(3, offsets, numbers, names);
        Py_XDECREF(offsets);
        Py_XDECREF(numbers);
    }
    release_sets(&given);
    return result;
}

/* Sizes of parts from a tuple of ints, or from shares, floats. */
static bool take_sizes(PyObject *tuple, uint64_t samples, uint64_t *sizes)
{
    Py_ssize_t count = PyTuple_Size(tuple);
    double *shares = PyMem_Calloc((size_t)count + 1, sizeof *shares);
    bool fine = shares != NULL, shared = count > 0 && PyFloat_Check(PyTuple_GetItem(tuple, 0));
    ocdm_error error = {0};
    if (!fine)
        PyErr_NoMemory();
    for (Py_ssize_t p = 0; fine && p < count; p++)
        if (shared)
            fine = (shares[p] = PyFloat_AsDouble(PyTuple_GetItem(tuple, p))) != -1 || PyErr_Occurred() == NULL;
        else
            fine = ocdm__unsigned(PyTuple_GetItem(tuple, p), samples, "the size of a part", &sizes[p]);
    if (fine && shared && ocdm_split_sizes(shares, (size_t)count, samples, sizes, &error) != OCDM_OK)
        fine = ocdm__raise(&error) != NULL;
    PyMem_Free(shares);
    return fine;
}

/* The result as an array, or the exception. */
static PyObject *finish(ocdm_status status, const ocdm_error *error, const void *result, size_t bytes, const char *dtype)
{
    return status == OCDM_OK ? ocdm__array(result, bytes, dtype) : ocdm__raise(error);
}

static PyObject *split_sets(struct sets *given, PyObject *tuple, const ocdm_split_options *options)
{
    size_t parts = (size_t)PyTuple_Size(tuple);
    uint64_t *sizes = PyMem_Calloc(parts + 1, sizeof *sizes);
    uint32_t *part = PyMem_Calloc(given->sets.count + 1, sizeof *part);
    PyObject *result = NULL;
    ocdm_error error = {0};
    ocdm_status status;
    if (sizes == NULL || part == NULL) {
        PyErr_NoMemory();
    } else if (take_sizes(tuple, given->sets.count, sizes)) {
        Py_BEGIN_ALLOW_THREADS;
        status = ocdm_split(&given->sets, sizes, parts, options, part, NULL, &error);
        Py_END_ALLOW_THREADS;
        result = finish(status, &error, part, given->sets.count * sizeof *part, "uint32");
    }
    PyMem_Free(sizes);
    PyMem_Free(part);
    return result;
}

/* split_parts(labels, sizes, groups, order, seed): the part of each sample. */
PyObject *ocdm__split_parts(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *labels, *sizes, *groups, *result = NULL;
    struct sets given = {0};
    ocdm_split_options options = ocdm_split_options_default();
    unsigned long long seed;
    if (!PyArg_ParseTuple(args, "OO!OIK", &labels, &PyTuple_Type, &sizes, &groups, &options.order, &seed))
        return NULL;
    options.seed = seed;
    if (take_sets(&given, labels, groups))
        result = split_sets(&given, sizes, &options);
    release_sets(&given);
    return result;
}

/* Labels that are named: a list of (label, minimum, weight). */
static bool take_named(PyObject *list, ocdm_select_label *named)
{
    for (Py_ssize_t i = 0; i < PyList_Size(list); i++)
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "IId", &named[i].label, &named[i].minimum, &named[i].weight))
            return false;
    return true;
}

static PyObject *select_sets(struct sets *given, size_t wanted, PyObject *list, ocdm_select_options *options)
{
    ocdm_select_label *named = PyMem_Calloc((size_t)PyList_Size(list) + 1, sizeof *named);
    uint8_t *chosen = PyMem_Calloc(given->sets.count + 1, 1);
    PyObject *result = NULL;
    ocdm_error error = {0};
    ocdm_status status;
    options->labels = named;
    options->label_count = (size_t)PyList_Size(list);
    if (named == NULL || chosen == NULL) {
        PyErr_NoMemory();
    } else if (take_named(list, named)) {
        Py_BEGIN_ALLOW_THREADS;
        status = ocdm_select(&given->sets, wanted, options, chosen, NULL, &error);
        Py_END_ALLOW_THREADS;
        result = finish(status, &error, chosen, given->sets.count, "bool");
    }
    PyMem_Free(named);
    PyMem_Free(chosen);
    return result;
}

/* select_samples(labels, wanted, rho, named, minimum, order, seed): whether each sample is chosen. */
PyObject *ocdm__select_samples(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *labels, *named, *result = NULL;
    Py_ssize_t wanted;
    struct sets given = {0};
    ocdm_select_options options = ocdm_select_options_default();
    unsigned long long seed;
    if (!PyArg_ParseTuple(args, "OndO!IIK", &labels, &wanted, &options.rho, &PyList_Type, &named, &options.minimum,
                          &options.order, &seed))
        return NULL;
    options.seed = seed;
    if (take_sets(&given, labels, Py_None))
        result = select_sets(&given, wanted < 0 ? 0 : (size_t)wanted, named, &options);
    release_sets(&given);
    return result;
}
