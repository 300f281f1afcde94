/*
 * A policy of the library whose functions are the methods of a Python object. Exceptions cannot pass through the library: the
 * first one is stored, the call fails, the memory is restored, and then the exception is raised.
 */
#include "module.h"

#include <string.h>

#include "base/error.h"

struct ocdm__python_policy {
    ocdm_policy table;
    char name[64];
    PyObject *object;
    ocdm__memory_object *owner;     /* not a reference: it outlives the policy */
    PyObject *type, *value, *trace; /* the exception that is to be raised; NULL: none */
};

typedef struct ocdm__python_policy policy_object;

const ocdm_policy *ocdm__python_policy_table(const policy_object *policy)
{
    return &policy->table;
}

PyObject *ocdm__python_policy_object(const policy_object *policy)
{
    return policy->object;
}

void ocdm__python_policy_attach(policy_object *policy, ocdm__memory_object *owner)
{
    policy->owner = owner;
}

/* ---- calling ---------------------------------------------------------------------------------------------------------- */

static void keep_exception(policy_object *policy)
{
    if (policy->type != NULL)
        PyErr_Clear();
    else
        PyErr_Fetch(&policy->type, &policy->value, &policy->trace);
}

static ocdm_status failed(policy_object *policy, ocdm_error *error)
{
    keep_exception(policy);
    return ocdm__fail(error, OCDM_BAD_DECISION, "", "policy %s raised an exception", policy->name);
}

bool ocdm__python_policy_raised(policy_object *policy)
{
    if (policy->type == NULL)
        return false;
    PyErr_Restore(policy->type, policy->value, policy->trace);
    policy->type = policy->value = policy->trace = NULL;
    return true;
}

/* Calls a method with the memory and up to two more arguments, whose references it takes over; NULL ends them. The memory is
 * the one that the library shows, which while a file is loaded is not yet that of the owner. */
static PyObject *call(policy_object *policy, const ocdm_memory *memory, const char *method, PyObject *first, PyObject *second)
{
    ocdm__memory_object *owner = policy->owner;
    ocdm_memory *own = owner->memory;
    bool asking = owner->asking, busy = owner->busy;
    PyObject *name = PyErr_Occurred() ? NULL : PyUnicode_FromString(method), *result = NULL;
    owner->memory = (ocdm_memory *)(uintptr_t)memory;
    owner->owner = PyThread_get_thread_ident();
    owner->asking = owner->busy = true;
    if (name != NULL)
        result =
            PyObject_CallMethodObjArgs(policy->object, name, (PyObject *)owner, first, first != NULL ? second : NULL, NULL);
    owner->memory = own;
    owner->asking = asking;
    owner->busy = busy;
    Py_XDECREF(name);
    Py_XDECREF(first);
    Py_XDECREF(second);
    return result;
}

static PyObject *id_object(uint64_t id)
{
    return PyLong_FromLongLong((int64_t)id);
}

static PyObject *labels_object(const policy_object *policy, const ocdm_sample *sample)
{
    return ocdm__label_list(&policy->owner->names, sample->labels, sample->label_count);
}

/* ---- the library's table ------------------------------------------------------------------------------------------------ */

static ocdm_status on_create(const ocdm_memory *memory, void *data, void **state, ocdm_error *error)
{
    (void)memory, (void)error;
    *state = data;
    return OCDM_OK;
}

static ocdm_status on_begin(void *state, const ocdm_memory *memory, const ocdm_sample *batch, size_t count, ocdm_error *error)
{
    policy_object *policy = state;
    PyObject *ids = PyList_New((Py_ssize_t)count), *labels = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; ids != NULL && labels != NULL && i < count; i++) {
        PyObject *id = id_object(batch[i].id), *set = labels_object(policy, &batch[i]);
        if (id != NULL)
            PyList_SetItem(ids, (Py_ssize_t)i, id);
        if (set != NULL)
            PyList_SetItem(labels, (Py_ssize_t)i, set);
        if (id == NULL || set == NULL)
            Py_CLEAR(ids);
    }
    PyObject *result = call(policy, memory, "begin", ids, labels);
    if (result == NULL)
        return failed(policy, error);
    Py_DECREF(result);
    return OCDM_OK;
}

static int on_admit(void *state, const ocdm_memory *memory, const ocdm_sample *sample)
{
    policy_object *policy = state;
    PyObject *result = call(policy, memory, "admit", id_object(sample->id), labels_object(policy, sample));
    int admitted = result != NULL ? PyObject_IsTrue(result) : -1;
    Py_XDECREF(result);
    if (admitted < 0)
        keep_exception(policy);
    return admitted;
}

/* The slot that a method answered; `none_is_fine`: None is OCDM_NONE. What is no slot at all is found by the memory. */
static ocdm_status answer(policy_object *policy, PyObject *result, bool none_is_fine, uint32_t *slot, ocdm_error *error)
{
    uint64_t number = OCDM_NONE;
    if (result != NULL && !(none_is_fine && result == Py_None))
        ocdm__unsigned(result, OCDM_NONE - 1, "the slot that a policy names", &number);
    Py_XDECREF(result);
    if (PyErr_Occurred())
        return failed(policy, error);
    *slot = (uint32_t)number;
    return OCDM_OK;
}

static ocdm_status on_replace(void *state, const ocdm_memory *memory, const ocdm_sample *sample, uint32_t *slot,
                              ocdm_error *error)
{
    policy_object *policy = state;
    PyObject *result = call(policy, memory, "replace", id_object(sample->id), labels_object(policy, sample));
    return answer(policy, result, true, slot, error);
}

static ocdm_status on_remove(void *state, const ocdm_memory *memory, uint32_t *slot, ocdm_error *error)
{
    policy_object *policy = state;
    return answer(policy, call(policy, memory, "remove", NULL, NULL), false, slot, error);
}

static void on_end(void *state, const ocdm_memory *memory, const ocdm_change *change, ocdm_status status)
{
    policy_object *policy = state;
    PyObject *what = status == OCDM_OK ? ocdm__change_create(change->stored + change->left_count) : Py_NewRef(Py_None);
    if (what != NULL && status == OCDM_OK)
        ocdm__change_fill(what, change);
    PyObject *result = what != NULL ? call(policy, memory, "end", what, NULL) : NULL;
    if (result == NULL)
        keep_exception(policy);
    Py_XDECREF(result);
}

static ocdm_status on_save(const void *state, const ocdm_memory *memory, unsigned char *bytes, size_t room, size_t *size,
                           ocdm_error *error)
{
    policy_object *policy = (policy_object *)(uintptr_t)state;
    PyObject *result = call(policy, memory, "save", NULL, NULL);
    Py_buffer view;
    if (result == NULL || PyObject_GetBuffer(result, &view, PyBUF_SIMPLE) < 0) {
        Py_XDECREF(result);
        return failed(policy, error);
    }
    *size = (size_t)view.len;
    if (room >= *size && *size > 0 && bytes != NULL)
        memcpy(bytes, view.buf, *size);
    PyBuffer_Release(&view);
    Py_DECREF(result);
    return OCDM_OK;
}

static ocdm_status on_load(void *state, const ocdm_memory *memory, const unsigned char *bytes, size_t size, ocdm_error *error)
{
    policy_object *policy = state;
    PyObject *data = PyBytes_FromStringAndSize((const char *)bytes, (Py_ssize_t)size);
    PyObject *result = data != NULL ? call(policy, memory, "load", data, NULL) : NULL;
    if (result == NULL)
        return failed(policy, error);
    Py_DECREF(result);
    return OCDM_OK;
}

/* ---- making one --------------------------------------------------------------------------------------------------------- */

static bool has(PyObject *object, const char *method)
{
    return PyObject_HasAttrString(object, method) != 0;
}

static void fill_table(policy_object *policy)
{
    PyObject *object = policy->object;
    policy->table = (ocdm_policy){
        .size = sizeof policy->table,
        .name = policy->name,
        .create = on_create,
        .begin = has(object, "begin") ? on_begin : NULL,
        .admit = has(object, "admit") ? on_admit : NULL,
        .replace = has(object, "replace") ? on_replace : NULL,
        .remove = has(object, "remove") ? on_remove : NULL,
        .save = has(object, "save") ? on_save : NULL,
        .load = has(object, "load") ? on_load : NULL,
        .end = has(object, "end") ? on_end : NULL,
    };
}

/* Its attribute `name`, or that of its class. */
static bool find_name(policy_object *policy)
{
    PyObject *name = has(policy->object, "name") ? PyObject_GetAttrString(policy->object, "name")
                                                 : PyObject_GetAttrString((PyObject *)Py_TYPE(policy->object), "__name__");
    const char *text = name != NULL && PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    bool fits = text != NULL && strlen(text) < sizeof policy->name;
    if (fits)
        memcpy(policy->name, text, strlen(text) + 1);
    else if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "the name of a policy must be a string of 1 to 63 characters");
    Py_XDECREF(name);
    return fits;
}

policy_object *ocdm__python_policy_create(PyObject *object, ocdm__memory_object *owner)
{
    if (PyType_Check(object) || (!has(object, "replace") && !has(object, "remove"))) {
        PyErr_Format(PyExc_ValueError, "a policy is a name, or an object with a method `replace` or `remove`, not %R", object);
        return NULL;
    }
    policy_object *policy = PyMem_Calloc(1, sizeof *policy);
    if (policy == NULL)
        return (policy_object *)(void *)PyErr_NoMemory();
    policy->object = Py_NewRef(object);
    policy->owner = owner;
    if (!find_name(policy)) {
        ocdm__python_policy_destroy(policy);
        return NULL;
    }
    fill_table(policy);
    return policy;
}

void ocdm__python_policy_destroy(policy_object *policy)
{
    if (policy == NULL)
        return;
    Py_XDECREF(policy->object);
    Py_XDECREF(policy->type);
    Py_XDECREF(policy->value);
    Py_XDECREF(policy->trace);
    PyMem_Free(policy);
}
