/*
 * Reads ids and label sets in all documented forms, and numbers labels that are strings.
 *
 * Arrays are read through the buffer protocol; what has none is turned into an array first (torch tensors, objects with
 * __array__, scipy's sparse matrices), or iterated. Everything that is wrong with a batch is a ValueError that says where. What
 * reads oddly, but can be meant, is a UserWarning.
 */
#include "module.h"

#include <math.h>
#include <string.h>

static bool refuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    PyErr_FormatV(PyExc_ValueError, format, arguments);
    va_end(arguments);
    return false;
}

/* Whether a ValueError may take the place of the exception, if there is one: not of a KeyboardInterrupt, a MemoryError, or what
 * an iterator of the caller raises. */
static bool may_replace(void)
{
    return PyErr_Occurred() == NULL || PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError);
}

/* ---- names ------------------------------------------------------------------------------------------------------------ */

void ocdm__names_clear(struct ocdm__names *names)
{
    Py_CLEAR(names->numbers);
    Py_CLEAR(names->list);
    *names = (struct ocdm__names){.kind = OCDM__NO_LABELS_YET};
}

Py_ssize_t ocdm__names_count(const struct ocdm__names *names)
{
    return names->list != NULL ? PyList_Size(names->list) : 0;
}

struct ocdm__names_mark ocdm__names_mark(const struct ocdm__names *names)
{
    return (struct ocdm__names_mark){ocdm__names_count(names), names->columns, names->kind};
}

void ocdm__names_cut(struct ocdm__names *names, struct ocdm__names_mark mark)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    for (Py_ssize_t i = ocdm__names_count(names) - 1; i >= mark.count; i--) {
        if (PyDict_DelItem(names->numbers, PyList_GetItem(names->list, i)) < 0)
            PyErr_Clear();
        if (PyList_SetSlice(names->list, i, i + 1, NULL) < 0)
            PyErr_Clear();
    }
    names->kind = mark.kind;
    names->columns = mark.columns;
    PyErr_Restore(type, value, trace);
}

static bool add_name(struct ocdm__names *names, PyObject *name, uint32_t *number)
{
    if (names->numbers == NULL && ((names->numbers = PyDict_New()) == NULL || (names->list = PyList_New(0)) == NULL)) {
        Py_CLEAR(names->numbers);
        return false;
    }
    Py_ssize_t count = PyList_Size(names->list);
    if (count >= (Py_ssize_t)OCDM_NONE)
        return refuse("there are too many different labels");
    PyObject *value = PyLong_FromSsize_t(count);
    bool added = value != NULL && PyList_Append(names->list, name) == 0;
    if (added && PyDict_SetItem(names->numbers, name, value) < 0) {
        PyList_SetSlice(names->list, count, count + 1, NULL);
        added = false;
    }
    Py_XDECREF(value);
    *number = (uint32_t)count;
    return added;
}

bool ocdm__names_set(struct ocdm__names *names, PyObject *list)
{
    if (list == Py_None)
        return true;
    names->kind = OCDM__NAMES;
    for (Py_ssize_t i = 0; i < PyList_Size(list); i++) {
        uint32_t number;
        PyObject *name = PyList_GetItem(list, i);
        if (!PyUnicode_Check(name) || (names->numbers != NULL && PyDict_Contains(names->numbers, name) != 0))
            return refuse("the names of labels must be different strings");
        if (!add_name(names, name, &number))
            return false;
    }
    return true;
}

static bool agree(struct ocdm__names *names, enum ocdm__label_kind kind)
{
    if (names->kind == OCDM__NO_LABELS_YET)
        names->kind = kind;
    if (names->kind == kind)
        return true;
    return refuse(kind == OCDM__NAMES ? "this label is a string, but the memory's labels are numbers"
                                      : "this label is a number, but the memory's labels are strings");
}

static bool name_number(struct ocdm__names *names, PyObject *label, bool add, uint32_t *number)
{
    PyObject *found = names->numbers != NULL ? PyDict_GetItemWithError(names->numbers, label) : NULL;
    if (found != NULL) {
        *number = (uint32_t)PyLong_AsUnsignedLong(found);
        return true;
    }
    if (PyErr_Occurred())
        return false;
    *number = OCDM_NONE;
    return !add || (agree(names, OCDM__NAMES) && add_name(names, label, number));
}

bool ocdm__label_number(struct ocdm__names *names, PyObject *label, bool add, uint32_t *number)
{
    if (PyUnicode_Check(label))
        return name_number(names, label, add, number);
    PyObject *index = PyBool_Check(label) ? NULL : PyNumber_Index(label);
    if (index == NULL)
        return may_replace() &&
               refuse("a label must be an integer or a string, not %R; several labels as bools need an array of shape [n, C]",
                      label);
    unsigned long long value = PyLong_AsUnsignedLongLong(index);
    Py_DECREF(index);
    if (PyErr_Occurred() || value > UINT32_MAX)
        return refuse("a label must be an integer from 0 to 4294967295, not %R", label);
    *number = (uint32_t)value;
    return !add || agree(names, OCDM__NUMBERS);
}

PyObject *ocdm__label_object(const struct ocdm__names *names, uint32_t number)
{
    if (names->kind != OCDM__NAMES || number >= ocdm__names_count(names))
        return PyLong_FromUnsignedLong(number);
    return Py_XNewRef(PyList_GetItem(names->list, number));
}

PyObject *ocdm__label_list(const struct ocdm__names *names, const uint32_t *labels, size_t count)
{
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *label = ocdm__label_object(names, labels[i]);
        if (label == NULL || PyList_SetItem(list, (Py_ssize_t)i, label) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* ---- room ------------------------------------------------------------------------------------------------------------- */

void ocdm__batch_clear(struct ocdm__batch *batch)
{
    PyMem_Free(batch->ids);
    PyMem_Free(batch->offsets);
    PyMem_Free(batch->labels);
    *batch = (struct ocdm__batch){0};
}

/* Room for `count` elements; twice what there was, so that appending is cheap. */
static bool reserve(void *pointer, size_t *room, size_t count, size_t size)
{
    void **block = pointer;
    if (count <= *room)
        return true;
    size_t wanted = count > 2 * *room ? count : 2 * *room;
    void *larger = wanted <= PY_SSIZE_T_MAX / size ? PyMem_Realloc(*block, wanted * size) : NULL;
    if (larger == NULL) {
        PyErr_NoMemory();
        return false;
    }
    *block = larger;
    *room = wanted;
    return true;
}

static bool end_sample(struct ocdm__batch *batch)
{
    if (!reserve(&batch->offsets, &batch->offset_room, batch->count + 2, sizeof *batch->offsets))
        return false;
    batch->offsets[0] = 0;
    batch->offsets[++batch->count] = batch->label_count;
    return true;
}

static bool append_label(struct ocdm__batch *batch, uint32_t label)
{
    if (!reserve(&batch->labels, &batch->label_room, batch->label_count + 1, sizeof *batch->labels))
        return false;
    batch->labels[batch->label_count++] = label;
    return true;
}

/* ---- arrays ----------------------------------------------------------------------------------------------------------- */

/* An array of numbers that was opened for reading. */
struct array {
    Py_buffer view;
    Py_ssize_t strides[2]; /* of its first two dimensions */
    char kind;             /* 'b' bools, 'u' and 'i' integers, 'f' floats, of view.itemsize bytes; 0: no numbers */
};

static void close_array(struct array *array)
{
    PyBuffer_Release(&array->view);
}

/* Whether an object has an attribute; false with an exception if asking fails. */
static bool has(PyObject *object, const char *name)
{
    PyObject *found = PyObject_GetAttrString(object, name);
    if (found == NULL && PyErr_ExceptionMatches(PyExc_AttributeError))
        PyErr_Clear();
    Py_XDECREF(found);
    return found != NULL;
}

/* A tensor as an array over its memory on the CPU. bfloat16, which NumPy does not have, becomes float32. */
static PyObject *array_of_tensor(PyObject *tensor)
{
    PyObject *plain = PyObject_CallMethod(tensor, "detach", NULL);
    PyObject *near = plain != NULL ? PyObject_CallMethod(plain, "cpu", NULL) : NULL;
    PyObject *array = near != NULL ? PyObject_CallMethod(near, "numpy", NULL) : NULL;
    if (array == NULL && near != NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        PyObject *single = PyObject_CallMethod(near, "float", NULL);
        array = single != NULL ? PyObject_CallMethod(single, "numpy", NULL) : NULL;
        Py_XDECREF(single);
    }
    Py_XDECREF(plain);
    Py_XDECREF(near);
    if (array == NULL && (PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_RuntimeError)))
        refuse("a tensor of labels or ids must be dense, without a conjugate or negative bit: write tensor.to_dense(), "
               "tensor.resolve_conj() or tensor.resolve_neg()");
    return array;
}

/* What has no buffer as something that may have one: a tensor's memory, or what __array__ gives. NULL without an exception:
 * neither. */
static PyObject *as_buffer_object(PyObject *object)
{
    static PyObject *asarray;
    if (PyList_Check(object) || PyTuple_Check(object) || PyUnicode_Check(object) || PyLong_Check(object))
        return NULL;
    if (has(object, "detach"))
        return array_of_tensor(object);
    if (PyErr_Occurred() || !has(object, "__array__") || ocdm__imported(&asarray, "numpy", "asarray") == NULL)
        return NULL;
    return PyObject_CallFunctionObjArgs(asarray, object, NULL);
}

static char kind_of(const Py_buffer *view)
{
    static const char letters[] = "?bBhHiIlLqQefd", kinds[] = "biuiuiuiuiufff";
    const char *format = view->format != NULL ? view->format : "B";
    if (*format == '@' || *format == '=' || *format == (PY_LITTLE_ENDIAN ? '<' : '>'))
        format++;
    const char *letter = format[0] != 0 && format[1] == 0 ? strchr(letters, format[0]) : NULL;
    char kind = letter != NULL ? kinds[letter - letters] : 0;
    Py_ssize_t size = view->itemsize;
    bool known = size == 1 ? kind != 'f' : kind != 'b' && (size == 2 || size == 4 || size == 8);
    return known ? kind : 0;
}

static bool holds_integers(const struct array *array)
{
    return array->kind == 'i' || array->kind == 'u';
}

/* The steps from element to element. Some exporters, ctypes among them, give none: their elements are next to each other. */
static void set_strides(struct array *array)
{
    const Py_buffer *view = &array->view;
    array->strides[0] = array->strides[1] = view->itemsize;
    if (view->strides == NULL && view->ndim == 2)
        array->strides[0] *= view->shape[1];
    for (int i = 0; view->strides != NULL && i < view->ndim && i < 2; i++)
        array->strides[i] = view->strides[i];
}

/* 1: opened; 0: no array, to be iterated; -1: exception. */
static int open_array(PyObject *object, struct array *array)
{
    PyObject *other = NULL;
    if (!PyObject_CheckBuffer(object)) {
        other = as_buffer_object(object);
        if (other == NULL)
            return PyErr_Occurred() ? -1 : 0;
        object = other;
    }
    int opened = PyObject_GetBuffer(object, &array->view, PyBUF_RECORDS_RO);
    Py_XDECREF(other);
    if (opened < 0) { /* strings of NumPy, dates */
        if (!may_replace() && !PyErr_ExceptionMatches(PyExc_BufferError))
            return -1;
        PyErr_Clear();
        return 0;
    }
    array->kind = kind_of(&array->view);
    set_strides(array);
    return 1;
}

static const char *element(const struct array *array, Py_ssize_t row, Py_ssize_t column)
{
    return (const char *)array->view.buf + row * array->strides[0] + column * array->strides[1];
}

#define READ(type)                                                                                                             \
    do {                                                                                                                       \
        type value;                                                                                                            \
        memcpy(&value, place, sizeof value);                                                                                   \
        return (int64_t)value;                                                                                                 \
    } while (0)

/* An integer; those over 2^63 - 1 become negative, and are refused as such. */
static int64_t integer_at(const struct array *array, const char *place)
{
    switch (array->kind == 'i' ? -array->view.itemsize : array->view.itemsize) {
    case 1:
        READ(uint8_t);
    case -1:
        READ(int8_t);
    case 2:
        READ(uint16_t);
    case -2:
        READ(int16_t);
    case 4:
        READ(uint32_t);
    case -4:
        READ(int32_t);
    default:
        READ(int64_t);
    }
}

/* A half-precision number, precise enough to test whether it is above 0.5 or NaN. */
static double half_at(const char *place)
{
    uint16_t bits;
    memcpy(&bits, place, sizeof bits);
    unsigned exponent = bits >> 10 & 31u, fraction = bits & 1023u;
    double size = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
                  : exponent == 0 ? ldexp(fraction, -24)
                                  : ldexp(1024 + fraction, (int)exponent - 25);
    return bits >> 15 != 0 ? -size : size;
}

static double real_at(const struct array *array, const char *place)
{
    float single;
    double value;
    if (array->kind != 'f')
        return (double)integer_at(array, place);
    if (array->view.itemsize == sizeof(uint16_t))
        return half_at(place);
    if (array->view.itemsize == sizeof single) {
        memcpy(&single, place, sizeof single);
        return (double)single;
    }
    memcpy(&value, place, sizeof value);
    return value;
}

/* ---- label sets ------------------------------------------------------------------------------------------------------- */

static bool append_number(struct ocdm__batch *batch, int64_t label, Py_ssize_t sample)
{
    if (label < 0 || label > UINT32_MAX)
        return refuse("sample %zd has the label %lld; labels are integers from 0 to 4294967295", sample, (long long)label);
    return append_label(batch, (uint32_t)label);
}

/* [n] integers: one label each. */
static bool read_single(struct ocdm__batch *batch, const struct array *array)
{
    if (!holds_integers(array))
        return refuse("labels of shape [n] must be integers; multi-hot labels have the shape [n, C]");
    for (Py_ssize_t i = 0; i < array->view.shape[0]; i++)
        if (!append_number(batch, integer_at(array, element(array, i, 0)), i) || !end_sample(batch))
            return false;
    return true;
}

/* Whether an element is 0, by its bytes: most elements of multi-hot labels are 0, and this is much faster than reading their
 * values. */
static bool is_plain_zero(const char *place, Py_ssize_t size)
{
    static const char zeros[8];
    return size == 4 ? memcmp(place, zeros, 4) == 0 : size == 1 ? *place == 0 : memcmp(place, zeros, (size_t)size) == 0;
}

/* Warns of values that are neither 0 nor 1, if there are any. The text has no number in it, so that it is shown once. */
static bool warn_of_values(bool any)
{
    return !any ||
           PyErr_WarnEx(PyExc_UserWarning,
                        "multi-hot labels with values other than 0 and 1: a class is present above 0.5, absent otherwise; "
                        "write labels > 0.5 if that is meant, labels.tolist() if each row is a list of labels",
                        1) == 0;
}

/* Notes how many columns multi-hot labels have. */
static bool note_columns(struct ocdm__names *names, Py_ssize_t columns)
{
    Py_ssize_t before = names->columns;
    names->columns = columns;
    return before == 0 || before == columns ||
           PyErr_WarnFormat(
               PyExc_UserWarning, 1,
               "multi-hot labels have %zd columns now and had %zd before: column c is class c in both; write arrays "
               "with a column for every class, or lists of labels",
               columns, before) == 0;
}

/* [n, C] multi-hot: class c where the value is above 0.5, and where it is known, if that is said: NULL is everywhere. */
static bool read_multi_hot(struct ocdm__batch *batch, struct ocdm__names *names, const struct array *array,
                           const struct array *known)
{
    Py_ssize_t columns = array->view.shape[1];
    bool odd = false;
    if (columns == 1 && names->columns != 1 && holds_integers(array))
        return refuse("integer labels of shape [n, 1] have two meanings: write labels[:, 0] for one label each, or "
                      "labels > 0 for one class that is present or absent");
    for (Py_ssize_t i = 0; i < array->view.shape[0]; i++) {
        const char *place = element(array, i, 0);
        for (Py_ssize_t c = 0; c < columns; c++, place += array->strides[1]) {
            if (is_plain_zero(place, array->view.itemsize) ||
                (known != NULL && is_plain_zero(element(known, i, c), known->view.itemsize)))
                continue;
            double value = real_at(array, place);
            if (isnan(value))
                return refuse("the multi-hot labels of sample %zd have a NaN at class %zd", i, c);
            odd |= value != 0 && value != 1;
            if (value > 0.5 && !append_number(batch, c, i))
                return false;
        }
        if (!end_sample(batch))
            return false;
    }
    return warn_of_values(odd) && note_columns(names, columns);
}

static bool one_dimension(const struct array *array, const char *what)
{
    return array->view.ndim == 1 || refuse("%s must have one dimension, not %d", what, array->view.ndim);
}

/* The rows of a CSR matrix; `values`, if there are any, say which entries count. */
static bool read_rows(struct ocdm__batch *batch, const struct array *starts, const struct array *labels,
                      const struct array *values)
{
    if (!one_dimension(starts, "offsets") || !one_dimension(labels, "the labels of a CSR pair") ||
        (values != NULL && !one_dimension(values, "the data of a sparse matrix")))
        return false;
    if (!holds_integers(starts) || !holds_integers(labels))
        return refuse("a CSR pair (offsets, labels) has arrays of integers");
    Py_ssize_t count = starts->view.shape[0] - 1, total = labels->view.shape[0];
    bool odd = false;
    if (values != NULL && (values->kind == 0 || values->view.shape[0] != total))
        return refuse("the data of a sparse matrix must be %zd numbers, one for each index", total);
    if (count < 0 || integer_at(starts, element(starts, 0, 0)) != 0 || integer_at(starts, element(starts, count, 0)) != total)
        return refuse("the offsets of a CSR pair go from 0 to the number of labels, %zd; is a list of label sets meant?",
                      total);
    for (Py_ssize_t i = 0; i < count; i++) {
        int64_t first = integer_at(starts, element(starts, i, 0)), end = integer_at(starts, element(starts, i + 1, 0));
        if (first < 0 || first > end || end > total)
            return refuse("the offsets of a CSR pair fall at sample %zd", i);
        for (int64_t j = first; j < end; j++) {
            double value = values != NULL ? real_at(values, element(values, (Py_ssize_t)j, 0)) : 1;
            if (isnan(value))
                return refuse("the multi-hot labels of sample %zd have a NaN", i);
            odd |= value != 0 && value != 1;
            if (value > 0.5 && !append_number(batch, integer_at(labels, element(labels, (Py_ssize_t)j, 0)), i))
                return false;
        }
        if (!end_sample(batch))
            return false;
    }
    return warn_of_values(odd);
}

/* Opens three arrays, the last may be NULL, and reads them as rows. 0: they are no arrays. */
static int read_csr(struct ocdm__batch *batch, PyObject *const *objects)
{
    struct array arrays[3];
    int opened = 0, result = 1;
    for (; opened < 3 && objects[opened] != NULL && result == 1; opened += result == 1)
        result = open_array(objects[opened], &arrays[opened]);
    if (result == 1)
        result = read_rows(batch, &arrays[0], &arrays[1], opened == 3 ? &arrays[2] : NULL) ? 1 : -1;
    while (opened > 0)
        close_array(&arrays[--opened]);
    return result;
}

static int read_sparse(struct ocdm__batch *batch, PyObject *object)
{
    static const char *const names[3] = {"indptr", "indices", "data"};
    PyObject *parts[3] = {NULL, NULL, NULL}, *rows = PyObject_CallMethod(object, "tocsr", NULL);
    int result = rows != NULL ? 1 : -1;
    for (int i = 0; i < 3 && result == 1; i++) {
        parts[i] = PyObject_GetAttrString(rows, names[i]);
        if (parts[i] == NULL)
            result = -1;
    }
    if (result == 1 && read_csr(batch, parts) != 1)
        result = PyErr_Occurred() ? -1 : (refuse("labels: a sparse matrix without indptr, indices and data") ? 1 : -1);
    for (int i = 0; i < 3; i++)
        Py_XDECREF(parts[i]);
    Py_XDECREF(rows);
    return result;
}

static bool say_which(Py_ssize_t sample)
{
    PyObject *type, *value, *trace;
    if (!may_replace())
        return false;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_Format(PyExc_ValueError, "labels of sample %zd: %S", sample, value != NULL ? value : Py_None);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return false;
}

static bool read_label_object(struct ocdm__batch *batch, struct ocdm__names *names, PyObject *label)
{
    uint32_t number;
    return ocdm__label_number(names, label, true, &number) && append_label(batch, number);
}

/* An int or a string is one label; all else is iterated. */
static bool read_set(struct ocdm__batch *batch, struct ocdm__names *names, PyObject *set)
{
    if (PyUnicode_Check(set) || PyLong_Check(set))
        return read_label_object(batch, names, set) && end_sample(batch);
    PyObject *items = PyObject_GetIter(set), *label = NULL;
    if (items == NULL) { /* a NumPy integer, or an invalid label */
        if (!may_replace())
            return false;
        PyErr_Clear();
        return read_label_object(batch, names, set) && end_sample(batch);
    }
    bool fine = true;
    while (fine && (label = PyIter_Next(items)) != NULL) {
        fine = read_label_object(batch, names, label);
        Py_DECREF(label);
    }
    Py_DECREF(items);
    return fine && !PyErr_Occurred() && end_sample(batch);
}

static bool read_list(struct ocdm__batch *batch, struct ocdm__names *names, PyObject *labels)
{
    PyObject *sets = PyUnicode_Check(labels) ? NULL : PyObject_GetIter(labels), *set = NULL;
    if (sets == NULL)
        return may_replace() && refuse("labels must be an array or a list with a label set for each sample, not %R", labels);
    bool fine = true;
    while (fine && (set = PyIter_Next(sets)) != NULL) {
        fine = read_set(batch, names, set) || say_which((Py_ssize_t)batch->count);
        Py_DECREF(set);
    }
    Py_DECREF(sets);
    return fine && !PyErr_Occurred();
}

/* Multi-hot labels of which some may be unknown: `mask` is None or an array of their shape. */
static bool read_known(struct ocdm__batch *batch, struct ocdm__names *names, const struct array *labels, PyObject *mask)
{
    struct array known;
    if (mask == Py_None)
        return read_multi_hot(batch, names, labels, NULL);
    int opened = open_array(mask, &known);
    if (opened != 1)
        return opened == 0 && refuse("known must be an array of bools of the shape of the labels, not %R", mask);
    bool fine = known.kind != 0 && known.view.ndim == 2 && known.view.shape[0] == labels->view.shape[0] &&
                known.view.shape[1] == labels->view.shape[1];
    fine = fine ? read_multi_hot(batch, names, labels, &known)
                : refuse("known must be an array of bools of the shape of the labels, [%zd, %zd]", labels->view.shape[0],
                         labels->view.shape[1]);
    close_array(&known);
    return fine;
}

/* 1: read; 0: the labels are no array; -1: exception. */
static int read_array(struct ocdm__batch *batch, struct ocdm__names *names, PyObject *labels, PyObject *known)
{
    struct array array;
    int opened = open_array(labels, &array);
    if (opened != 1)
        return opened;
    int result = 0;
    if (known != Py_None && array.view.ndim != 2)
        result = refuse("known needs multi-hot labels of shape [n, C]") ? 1 : -1;
    else if (array.kind == 0 && array.view.ndim == 1) /* strings, objects: iterated */
        result = 0;
    else if (array.kind == 0)
        result = refuse("labels: an array of shape [n, C] must hold bools, integers or floats") ? 1 : -1;
    else if (array.view.ndim == 1)
        result = read_single(batch, &array) ? 1 : -1;
    else if (array.view.ndim == 2)
        result = read_known(batch, names, &array, known) ? 1 : -1;
    else
        result = refuse("labels must have the shape [n] or [n, C], not %d dimensions", array.view.ndim) ? 1 : -1;
    close_array(&array);
    return result;
}

/* The forms without names, by arrays. With `known`, only multi-hot arrays are read. */
static int read_numbers(struct ocdm__batch *batch, struct ocdm__names *names, PyObject *labels, PyObject *known)
{
    if (known == Py_None && PyTuple_Check(labels) && PyTuple_Size(labels) == 2) {
        PyObject *pair[3] = {PyTuple_GetItem(labels, 0), PyTuple_GetItem(labels, 1), NULL};
        return read_csr(batch, pair);
    }
    if (PyList_Check(labels) || PyTuple_Check(labels))
        return 0;
    if (known == Py_None && !PyObject_CheckBuffer(labels) && has(labels, "tocsr"))
        return read_sparse(batch, labels);
    return PyErr_Occurred() ? -1 : read_array(batch, names, labels, known);
}

static bool read_labels(struct ocdm__batch *batch, struct ocdm__names *names, PyObject *labels, PyObject *known)
{
    batch->count = batch->label_count = 0;
    if (!reserve(&batch->offsets, &batch->offset_room, 1, sizeof *batch->offsets))
        return false;
    batch->offsets[0] = 0;
    int read = read_numbers(batch, names, labels, known);
    if (read == 0)
        return known == Py_None ? read_list(batch, names, labels) : refuse("known needs multi-hot labels of shape [n, C]");
    return read == 1 && (batch->label_count == 0 || agree(names, OCDM__NUMBERS));
}

/* ---- ids -------------------------------------------------------------------------------------------------------------- */

bool ocdm__id_read(PyObject *object, uint64_t *id)
{
    PyObject *index = PyBool_Check(object) ? NULL : PyNumber_Index(object);
    if (index == NULL && !may_replace())
        return false;
    long long value = index != NULL ? PyLong_AsLongLong(index) : -1;
    Py_XDECREF(index);
    if (index == NULL || PyErr_Occurred())
        return refuse("an id must be an integer of 64 bits, not %R", object);
    *id = (uint64_t)value;
    return true;
}

static bool wrong_length(size_t ids, size_t labels)
{
    return refuse("there are %zu ids and %zu label sets", ids, labels);
}

static bool read_id_array(struct ocdm__batch *batch, const struct array *array)
{
    if (!holds_integers(array))
        return refuse("ids must be integers");
    if (!one_dimension(array, "ids"))
        return false;
    if ((size_t)array->view.shape[0] != batch->count)
        return wrong_length((size_t)array->view.shape[0], batch->count);
    bool beyond = false;
    for (size_t i = 0; i < batch->count; i++) {
        int64_t id = integer_at(array, element(array, (Py_ssize_t)i, 0));
        beyond |= id < 0 && array->kind == 'u';
        batch->ids[i] = (uint64_t)id;
    }
    return !beyond || refuse("an id must be an integer of 64 bits with a sign: below 2^63");
}

static bool read_id_list(struct ocdm__batch *batch, PyObject *ids)
{
    PyObject *items = PyObject_GetIter(ids), *item = NULL;
    if (items == NULL)
        return may_replace() && refuse("ids must be an array or a list of integers, not %R", ids);
    size_t count = 0;
    bool fine = true;
    while (fine && (item = PyIter_Next(items)) != NULL) {
        fine = count < batch->count ? ocdm__id_read(item, &batch->ids[count]) : wrong_length(count + 1, batch->count);
        count++;
        Py_DECREF(item);
    }
    Py_DECREF(items);
    if (!fine || PyErr_Occurred())
        return false;
    return count == batch->count || wrong_length(count, batch->count);
}

static bool read_ids(struct ocdm__batch *batch, PyObject *ids, uint64_t first_id)
{
    if (!reserve(&batch->ids, &batch->id_room, batch->count, sizeof *batch->ids))
        return false;
    if (ids == Py_None) {
        for (size_t i = 0; i < batch->count; i++)
            batch->ids[i] = first_id + i;
        return true;
    }
    struct array array;
    int opened = open_array(ids, &array);
    if (opened != 1)
        return opened == 0 && read_id_list(batch, ids);
    bool fine = read_id_array(batch, &array);
    close_array(&array);
    return fine;
}

bool ocdm__batch_read(struct ocdm__batch *batch, struct ocdm__names *names, PyObject *ids, PyObject *labels, PyObject *known,
                      uint64_t first_id)
{
    return read_labels(batch, names, labels, known) && read_ids(batch, ids, first_id);
}
