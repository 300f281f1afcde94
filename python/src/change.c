/*
 * What an update, forget or resize did, as Python sees it: numbers copied from the memory in one block, arrays made of them
 * when they are asked for.
 */
#include "module.h"

#include <stdlib.h>

enum field { SLOTS, ITEMS, LEFT_IDS, LEFT_SLOTS, LEFT_ITEMS, MOVED_FROM, MOVED_TO, FIELDS };
#define SEQUENCE_FIELDS 5 /* of an unpacked Change */

typedef struct change_object {
    PyObject ob_base;
    size_t count[FIELDS];
    size_t start[FIELDS]; /* in values */
    int64_t *values;
    PyObject *arrays[FIELDS]; /* NULL until asked for */
} change_object;

static PyTypeObject *change_type;

static int64_t or_minus_one(uint32_t number)
{
    return number == OCDM_NONE ? -1 : (int64_t)number;
}

static void copy_values(change_object *self, const ocdm_change *change)
{
    for (size_t i = 0; i < change->stored; i++) {
        self->values[self->start[SLOTS] + i] = change->slot[i];
        self->values[self->start[ITEMS] + i] = change->item[i];
    }
    for (size_t i = 0; i < change->left_count; i++) {
        self->values[self->start[LEFT_IDS] + i] = (int64_t)change->left[i].id;
        self->values[self->start[LEFT_SLOTS] + i] = or_minus_one(change->left[i].slot);
        self->values[self->start[LEFT_ITEMS] + i] = or_minus_one(change->left[i].item);
    }
    for (size_t i = 0; i < change->moved_count; i++) {
        self->values[self->start[MOVED_FROM] + i] = change->moved[i].from;
        self->values[self->start[MOVED_TO] + i] = change->moved[i].to;
    }
}

PyObject *ocdm__change_create(size_t most)
{
    change_object *self = PyObject_New(change_object, change_type);
    if (self == NULL)
        return NULL;
    for (int i = 0; i < FIELDS; i++) {
        self->count[i] = self->start[i] = 0;
        self->arrays[i] = NULL;
    }
    self->values = PyMem_Calloc(FIELDS * most + 1, sizeof *self->values);
    if (self->values == NULL) {
        Py_DECREF((PyObject *)self);
        return PyErr_NoMemory();
    }
    return (PyObject *)self;
}

void ocdm__change_fill(PyObject *object, const ocdm_change *change)
{
    change_object *self = (change_object *)object;
    const size_t counts[FIELDS] = {change->stored,     change->stored,      change->left_count, change->left_count,
                                   change->left_count, change->moved_count, change->moved_count};
    size_t total = 0;
    for (int i = 0; i < FIELDS; i++) {
        self->count[i] = counts[i];
        self->start[i] = total;
        total += counts[i];
    }
    copy_values(self, change);
    int64_t *fitted = PyMem_Realloc(self->values, (total + 1) * sizeof *self->values);
    if (fitted != NULL) /* else it stays too large */
        self->values = fitted;
}

static void change_dealloc(change_object *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    for (int i = 0; i < FIELDS; i++)
        Py_XDECREF(self->arrays[i]);
    PyMem_Free(self->values);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *change_get(change_object *self, void *closure)
{
    size_t field = (size_t)(uintptr_t)closure;
    if (self->arrays[field] == NULL)
        self->arrays[field] = ocdm__int64_array(self->values + self->start[field], self->count[field]);
    Py_XINCREF(self->arrays[field]);
    return self->arrays[field];
}

static Py_ssize_t change_length(change_object *self)
{
    (void)self;
    return SEQUENCE_FIELDS;
}

static PyObject *change_item(change_object *self, Py_ssize_t index)
{
    if (index < 0 || index >= SEQUENCE_FIELDS) {
        PyErr_SetString(PyExc_IndexError, "a Change has five items");
        return NULL;
    }
    return change_get(self, (void *)(uintptr_t)index);
}

static PyObject *change_repr(change_object *self)
{
    return PyUnicode_FromFormat("Change(stored=%zu, left=%zu, moved=%zu)", self->count[SLOTS], self->count[LEFT_IDS],
                                self->count[MOVED_FROM]);
}

#define GETTER(name, field, text)                                                                                              \
    {                                                                                                                          \
        name, (getter)change_get, NULL, text, (void *)(uintptr_t)(field)                                                       \
    }

static PyGetSetDef change_getters[] = {
    GETTER("slots", SLOTS, "int64 array: the slots that hold samples of the batch now"),
    GETTER("items", ITEMS, "int64 array: slots[i] holds item items[i] of the batch; ascending"),
    GETTER("left_ids", LEFT_IDS,
           "int64 array: ids of the samples of memory and batch that were not kept, in order of deletion"),
    GETTER("left_slots", LEFT_SLOTS, "int64 array: the slots that they held before; -1 for samples of the batch"),
    GETTER("left_items", LEFT_ITEMS, "int64 array: their positions in the batch; -1 for samples of the memory"),
    GETTER("moved_from", MOVED_FROM, "int64 array: slots of samples that moved, by forget and resize only"),
    GETTER("moved_to", MOVED_TO, "int64 array: the slots that they moved to"),
    {0},
};

static PyType_Slot change_slots[] = {
    {Py_tp_doc, "What an update, forget or resize did to a memory.\n\n"
                "Unpacks into slots, items, left_ids, left_slots, left_items: int64 arrays. Copy payloads like this:\n\n"
                "    payload[change.slots] = batch[change.items]                   # after update\n"
                "    payload[change.moved_to] = payload[change.moved_from]         # after forget and resize\n\n"
                ">>> memory = ocdm.Memory(capacity=2)\n"
                ">>> slots, items, left_ids, left_slots, left_items = memory.update([7, 8, 9], [[0], [1], [1]])\n"
                ">>> len(slots), len(left_ids)\n"
                "(2, 1)"},
    {Py_tp_dealloc, (void *)change_dealloc},
    {Py_tp_getset, change_getters},
    {Py_tp_repr, (void *)change_repr},
    {Py_sq_length, (void *)change_length},
    {Py_sq_item, (void *)change_item},
    {0, NULL},
};

static PyType_Spec change_spec = {
    .name = "ocdm.Change",
    .basicsize = sizeof(change_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = change_slots,
};

bool ocdm__add_change_type(PyObject *module)
{
    change_type = ocdm__add_type(module, &change_spec);
    return change_type != NULL;
}
