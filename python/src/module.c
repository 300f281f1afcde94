/* The module ocdm._ocdm: what is not a type, and helpers of all its files. */
#include "module.h"

#include <errno.h>
#include <string.h>

#include "base/output.h"
#include "base/safetensors.h"

/* ---- exceptions ------------------------------------------------------------------------------------------------------- */

PyObject *ocdm__raise(const ocdm_error *error)
{
    PyObject *type = PyExc_ValueError;
    if (error->status == OCDM_DUPLICATE_ID || error->status == OCDM_UNKNOWN_ID)
        type = PyExc_KeyError;
    else if (error->status == OCDM_IO)
        type = PyExc_OSError;
    else if (error->status == OCDM_NO_MEMORY)
        type = PyExc_MemoryError;
    return PyErr_Format(type, "%s%s%s", error->message, error->hint[0] != 0 ? "; " : "", error->hint);
}

/* ---- arguments -------------------------------------------------------------------------------------------------------- */

static Py_ssize_t find_name(PyObject *keyword, const char *const *names)
{
    for (Py_ssize_t i = 0; names[i] != NULL; i++)
        if (PyUnicode_CompareWithASCIIString(keyword, names[i]) == 0)
            return i;
    return -1;
}

static bool take_keywords(const char *function, PyObject *const *values, PyObject *kwnames, const char *const *names,
                          PyObject **out)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(kwnames); i++) {
        PyObject *keyword = PyTuple_GetItem(kwnames, i);
        Py_ssize_t place = find_name(keyword, names);
        if (place < 0 || out[place] != NULL) {
            PyErr_Format(PyExc_TypeError, "%s() got an unexpected or repeated argument '%U'", function, keyword);
            return false;
        }
        out[place] = values[i];
    }
    return true;
}

bool ocdm__arguments(const char *function, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, const char *const *names,
                     Py_ssize_t required, PyObject **out)
{
    Py_ssize_t room = 0;
    for (; names[room] != NULL; room++)
        out[room] = room < nargs ? args[room] : NULL;
    if (nargs > room) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %zd arguments (%zd given)", function, room, nargs);
        return false;
    }
    if (kwnames != NULL && !take_keywords(function, args + nargs, kwnames, names, out))
        return false;
    for (Py_ssize_t i = 0; i < required; i++)
        if (out[i] == NULL) {
            PyErr_Format(PyExc_TypeError, "%s() misses the argument '%s'", function, names[i]);
            return false;
        }
    return true;
}

bool ocdm__unsigned(PyObject *object, uint64_t limit, const char *what, uint64_t *value)
{
    PyObject *index = PyNumber_Index(object);
    if (index == NULL)
        return false;
    *value = PyLong_AsUnsignedLongLong(index);
    Py_DECREF(index);
    if (!PyErr_Occurred() && *value <= limit)
        return true;
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "%s must be an integer from 0 to %llu, not %R", what, (unsigned long long)limit, object);
    return false;
}

/* ---- imports and arrays ----------------------------------------------------------------------------------------------- */

PyObject *ocdm__imported(PyObject **cache, const char *module, const char *attribute)
{
    if (*cache != NULL)
        return *cache;
    PyObject *imported = PyImport_ImportModule(module);
    if (imported == NULL)
        return NULL;
    *cache = PyObject_GetAttrString(imported, attribute);
    Py_DECREF(imported);
    return *cache;
}

/* numpy.frombuffer on a bytearray: an array that may be written, at the price of one copy. */
static PyObject *array_over(const void *bytes, size_t size, PyObject *dtype)
{
    static PyObject *frombuffer, *empty;
    if (ocdm__imported(&frombuffer, "numpy", "frombuffer") == NULL || ocdm__imported(&empty, "numpy", "empty") == NULL)
        return NULL;
    if (size == 0)
        return PyObject_CallFunction(empty, "iO", 0, dtype);
    PyObject *copy = PyByteArray_FromStringAndSize(bytes, (Py_ssize_t)size);
    if (copy == NULL)
        return NULL;
    PyObject *array = PyObject_CallFunctionObjArgs(frombuffer, copy, dtype, NULL);
    Py_DECREF(copy);
    return array;
}

PyObject *ocdm__array(const void *bytes, size_t size, const char *dtype)
{
    PyObject *name = PyUnicode_FromString(dtype);
    PyObject *array = name != NULL ? array_over(bytes, size, name) : NULL;
    Py_XDECREF(name);
    return array;
}

PyObject *ocdm__int64_array(const int64_t *values, size_t count)
{
    static PyObject *make_dtype, *dtype;
    if (dtype == NULL) {
        if (ocdm__imported(&make_dtype, "numpy", "dtype") == NULL)
            return NULL;
        dtype = PyObject_CallFunction(make_dtype, "s", "int64");
        if (dtype == NULL)
            return NULL;
    }
    return array_over(values, count * sizeof *values, dtype);
}

/* ---- safetensors ------------------------------------------------------------------------------------------------------ */

/* A file to be written: its views keep the arrays of the caller in place. */
struct package {
    struct ocdm__note *notes;
    size_t note_count;
    struct ocdm__tensor *tensors;
    Py_buffer *views;
    size_t tensor_count;
};

static bool take_notes(struct package *package, PyObject *notes)
{
    Py_ssize_t position = 0;
    PyObject *key, *value;
    while (PyDict_Next(notes, &position, &key, &value)) {
        struct ocdm__note *note = &package->notes[package->note_count++];
        note->key = PyUnicode_AsUTF8AndSize(key, NULL);
        note->value = note->key != NULL ? PyUnicode_AsUTF8AndSize(value, NULL) : NULL;
        if (note->value == NULL)
            return false;
    }
    return true;
}

static bool take_shape(PyObject *shape, struct ocdm__tensor *tensor, size_t elements)
{
    uint64_t product = 1;
    tensor->rank = (uint32_t)PyTuple_Size(shape);
    for (uint32_t i = 0; i < tensor->rank && i < OCDM__TENSOR_RANK; i++) {
        if (!ocdm__unsigned(PyTuple_GetItem(shape, i), PY_SSIZE_T_MAX, "a dimension", &tensor->shape[i]))
            return false;
        product *= tensor->shape[i];
    }
    if (tensor->rank <= OCDM__TENSOR_RANK && product == elements)
        return true;
    PyErr_Format(PyExc_ValueError, "a file holds arrays of up to %d dimensions, and this shape has others", OCDM__TENSOR_RANK);
    return false;
}

/* (name, dtype, data) or (name, dtype, data, shape) */
static bool take_tensor(struct package *package, PyObject *entry)
{
    const char *name, *dtype;
    PyObject *data, *shape = NULL;
    Py_buffer *view = &package->views[package->tensor_count];
    if (!PyArg_ParseTuple(entry, "ssO|O!", &name, &dtype, &data, &PyTuple_Type, &shape) ||
        PyObject_GetBuffer(data, view, PyBUF_C_CONTIGUOUS) < 0)
        return false;
    struct ocdm__tensor *tensor = &package->tensors[package->tensor_count++];
    for (int i = 0; i < OCDM__DTYPE_COUNT; i++)
        if (strcmp(ocdm__dtypes[i].name, dtype) == 0) {
            size_t elements = (size_t)view->len / ocdm__dtypes[i].size;
            *tensor = ocdm__tensor_of(name, (enum ocdm__dtype)i, view->buf, elements);
            return shape == NULL || take_shape(shape, tensor, elements);
        }
    return PyErr_Format(PyExc_ValueError, "%s is no type of a file", dtype) != NULL;
}

static bool take_tensors(struct package *package, PyObject *tensors)
{
    for (Py_ssize_t i = 0; i < PyList_Size(tensors); i++)
        if (!take_tensor(package, PyList_GetItem(tensors, i)))
            return false;
    return true;
}

static PyObject *write_package(const struct package *package, const char *path)
{
    ocdm_error error = {0};
    ocdm__output output;
    PyObject *result = NULL;
    ocdm_status status = path != NULL ? ocdm__output_open(&output, path, &error)
                                      : ocdm__output_open_memory(&output, "the bytes of a memory", &error);
    if (status != OCDM_OK)
        return ocdm__raise(&error);
    status =
        ocdm__safetensors_write(&output, package->notes, package->note_count, package->tensors, package->tensor_count, &error);
    if (status == OCDM_OK && path != NULL)
        status = ocdm__output_commit(&output, &error);
    else if (status == OCDM_OK)
        status = ocdm__output_check(&output, &error);
    if (status != OCDM_OK)
        ocdm__raise(&error);
    else
        result = path != NULL ? Py_NewRef(Py_None) : PyBytes_FromStringAndSize(output.buffer, (Py_ssize_t)output.used);
    ocdm__output_abandon(&output);
    return result;
}

/* pack(notes, tensors, path=None): a safetensors file with its checksum, as bytes or at a path. */
static PyObject *pack(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *notes, *tensors, *result = NULL;
    const char *path = NULL;
    if (!PyArg_ParseTuple(args, "O!O!|z", &PyDict_Type, &notes, &PyList_Type, &tensors, &path))
        return NULL;
    struct package package = {
        .notes = PyMem_Calloc((size_t)PyDict_Size(notes) + 1, sizeof *package.notes),
        .tensors = PyMem_Calloc((size_t)PyList_Size(tensors) + 1, sizeof *package.tensors),
        .views = PyMem_Calloc((size_t)PyList_Size(tensors) + 1, sizeof *package.views),
    };
    if (package.notes == NULL || package.tensors == NULL || package.views == NULL)
        PyErr_NoMemory();
    else if (take_notes(&package, notes) && take_tensors(&package, tensors))
        result = write_package(&package, path);
    for (size_t i = 0; i < package.tensor_count; i++)
        PyBuffer_Release(&package.views[i]);
    PyMem_Free(package.notes);
    PyMem_Free(package.tensors);
    PyMem_Free(package.views);
    return result;
}

static PyObject *describe_tensor(const struct ocdm__tensor *tensor, const unsigned char *bytes)
{
    PyObject *shape = PyTuple_New((Py_ssize_t)tensor->rank);
    for (uint32_t i = 0; shape != NULL && i < tensor->rank; i++) {
        PyObject *length = PyLong_FromUnsignedLongLong(tensor->shape[i]);
        if (length == NULL || PyTuple_SetItem(shape, (Py_ssize_t)i, length) < 0)
            Py_CLEAR(shape);
    }
    return shape == NULL
               ? NULL
               : Py_BuildValue("s#sNnn", tensor->name, (Py_ssize_t)tensor->name_length, ocdm__dtypes[tensor->dtype].name, shape,
                               (Py_ssize_t)(tensor->data - bytes), (Py_ssize_t)tensor->size);
}

/* unpack(bytes, name): checks a safetensors file; a list of (name, dtype, shape, offset, size). ValueError, with the name. */
static PyObject *unpack(PyObject *module, PyObject *args)
{
    (void)module;
    Py_buffer bytes;
    const char *name;
    struct ocdm__safetensors file = {0};
    ocdm_error error = {0};
    if (!PyArg_ParseTuple(args, "y*s", &bytes, &name))
        return NULL;
    PyObject *list = NULL;
    if (ocdm__safetensors_read(&file, name, bytes.buf, (size_t)bytes.len, &error) != OCDM_OK)
        ocdm__raise(&error);
    else
        list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < file.tensor_count; i++) {
        PyObject *row = describe_tensor(&file.tensors[i], bytes.buf);
        if (row == NULL || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    ocdm__safetensors_close(&file);
    PyBuffer_Release(&bytes);
    return list;
}

/* ---- the module ------------------------------------------------------------------------------------------------------- */

static PyObject *policies(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyObject *names = PyList_New(0);
    for (size_t i = 0; names != NULL && ocdm_policy_at(i) != NULL; i++) {
        PyObject *name = PyUnicode_FromString(ocdm_policy_at(i)->name);
        if (name == NULL || PyList_Append(names, name) < 0)
            Py_CLEAR(names);
        Py_XDECREF(name);
    }
    return names;
}

static PyMethodDef functions[] = {
    {"policies", policies, METH_NOARGS,
     "policies() -> list[str]\n\nThe policies of the library.\n\n>>> ocdm.policies()[:3]\n['ocdm', 'prs', 'prs-released']"},
    {"pack", pack, METH_VARARGS, NULL},
    {"unpack", unpack, METH_VARARGS, NULL},
    {"metric_names", ocdm__metrics_names, METH_NOARGS, NULL},
    {"score_classes", ocdm__metrics_score, METH_VARARGS, NULL},
    {"measure", ocdm__metrics_measure, METH_VARARGS, NULL},
    {"average_precision", ocdm__metrics_precision, METH_VARARGS, NULL},
    {"forgetting", ocdm__metrics_forgetting, METH_VARARGS, NULL},
    {"best_threshold", ocdm__metrics_threshold, METH_VARARGS, NULL},
    {"transfer", ocdm__metrics_transfer, METH_VARARGS, NULL},
    {"draw_classes", ocdm__draw_classes, METH_VARARGS, NULL},
    {"label_sets", ocdm__label_sets, METH_O, NULL},
    {"split_parts", ocdm__split_parts, METH_VARARGS, NULL},
    {"select_samples", ocdm__select_samples, METH_VARARGS, NULL},
    {0},
};

PyTypeObject *ocdm__add_type(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromSpec(spec);
    if (type == NULL || PyModule_AddType(module, (PyTypeObject *)type) < 0) {
        Py_XDECREF(type);
        return NULL;
    }
    return (PyTypeObject *)type;
}

static int fill_module(PyObject *module)
{
    if (!ocdm__add_change_type(module) || !ocdm__add_memory_type(module) || !ocdm__add_stream_types(module) ||
        !ocdm__add_loop_type(module))
        return -1;
    return PyModule_AddStringConstant(module, "__version__", ocdm_version());
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, (void *)fill_module},
    {0, NULL},
};

static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "ocdm._ocdm",
    .m_doc = "The C side of the package ocdm.",
    .m_methods = functions,
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__ocdm(void)
{
    return PyModuleDef_Init(&definition);
}
