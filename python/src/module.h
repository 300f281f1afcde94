/*
 * What the files of the module share. Written against the limited API of CPython 3.11, so that one build serves all later
 * versions. NumPy is imported when the first array is made, and its C interface is not used.
 */
#ifndef OCDM_PYTHON_MODULE_H
#define OCDM_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ocdm/ocdm.h"

/* ---- module.c -------------------------------------------------------------------------------------------------------- */

/* Raises the exception of an error of the library: DUPLICATE_ID and UNKNOWN_ID KeyError, IO OSError, NO_MEMORY MemoryError, all
 * others ValueError; the text is message and hint. Returns NULL. */
PyObject *ocdm__raise(const ocdm_error *error);

/*
 * Arguments by position or keyword, for METH_FASTCALL | METH_KEYWORDS: `names` ends with NULL, the first `required` must be
 * given, the others stay NULL. False with TypeError.
 */
bool ocdm__arguments(const char *function, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, const char *const *names,
                     Py_ssize_t required, PyObject **out);

/* An attribute of an imported module, cached in *cache: a borrowed reference, or NULL with the exception. */
PyObject *ocdm__imported(PyObject **cache, const char *module, const char *attribute);

/* A new array of one dimension over a copy of the bytes; `dtype` is NumPy's name, as "int64". */
PyObject *ocdm__array(const void *bytes, size_t size, const char *dtype);
PyObject *ocdm__int64_array(const int64_t *values, size_t count);

/* An int from 0 to `limit`; ValueError, which begins with `what`, for all else. */
bool ocdm__unsigned(PyObject *object, uint64_t limit, const char *what, uint64_t *value);

/* Adds a heap type to the module. */
PyTypeObject *ocdm__add_type(PyObject *module, PyType_Spec *spec);

/* ---- change.c -------------------------------------------------------------------------------------------------------- */

bool ocdm__add_change_type(PyObject *module);

/* An empty Change with room for `most` samples stored, left and moved; made before the memory changes, since that may fail. */
PyObject *ocdm__change_create(size_t most);

/* Copies what the memory says. */
void ocdm__change_fill(PyObject *object, const ocdm_change *change);

/* ---- labels.c -------------------------------------------------------------------------------------------------------- */

/* Whether the labels of a memory are numbers or names; the first label decides. */
enum ocdm__label_kind { OCDM__NO_LABELS_YET, OCDM__NUMBERS, OCDM__NAMES };

/* What is known of the labels of a memory. Those that are strings are numbered from 0 in order of appearance. */
struct ocdm__names {
    enum ocdm__label_kind kind;
    PyObject *numbers;  /* dict: name to number; NULL until there is a name */
    PyObject *list;     /* list: number to name */
    Py_ssize_t columns; /* of the last multi-hot labels; 0: there were none */
};

/* A state of it to return to. */
struct ocdm__names_mark {
    Py_ssize_t count, columns;
    enum ocdm__label_kind kind;
};

void ocdm__names_clear(struct ocdm__names *names);

/* Takes over a list of distinct strings; None for a memory of numbers. ValueError. */
bool ocdm__names_set(struct ocdm__names *names, PyObject *list);

/* Returns to a mark after an update that failed: forgets the names that came since. Keeps an exception that is set. */
struct ocdm__names_mark ocdm__names_mark(const struct ocdm__names *names);
void ocdm__names_cut(struct ocdm__names *names, struct ocdm__names_mark mark);
Py_ssize_t ocdm__names_count(const struct ocdm__names *names);

/* The number of a label, an int or a string; `add`: a new name gets the next number, otherwise it is OCDM_NONE. ValueError. */
bool ocdm__label_number(struct ocdm__names *names, PyObject *label, bool add, uint32_t *number);

/* The label with that number: a new reference to an int or a string. */
PyObject *ocdm__label_object(const struct ocdm__names *names, uint32_t number);

/* A list of labels. */
PyObject *ocdm__label_list(const struct ocdm__names *names, const uint32_t *labels, size_t count);

/* A batch as flat arrays, in room that is used again. */
struct ocdm__batch {
    size_t count;
    uint64_t *ids;
    uint64_t *offsets; /* count + 1 */
    uint32_t *labels;
    size_t id_room, offset_room, label_room, label_count;
};

void ocdm__batch_clear(struct ocdm__batch *batch);

/*
 * Reads ids and labels in any form that the documentation of Memory.update names. `ids` None: numbers from `first_id` on;
 * `known` None, or which of multi-hot labels are known. False with ValueError, or what the caller's objects raise; new names
 * may have been added then, which is for the caller to undo.
 */
bool ocdm__batch_read(struct ocdm__batch *batch, struct ocdm__names *names, PyObject *ids, PyObject *labels, PyObject *known,
                      uint64_t first_id);

/* One id: an int of 64 bits with a sign. ValueError. */
bool ocdm__id_read(PyObject *object, uint64_t *id);

/* ---- memory.c -------------------------------------------------------------------------------------------------------- */

struct ocdm__python_policy;

/* The object behind ocdm.Memory. */
typedef struct ocdm__memory_object {
    PyObject ob_base;
    ocdm_memory *memory;                /* NULL after a load that failed, and when garbage is collected */
    struct ocdm__python_policy *policy; /* NULL for a policy of the library */
    struct ocdm__names names;
    struct ocdm__batch batch;
    PyObject *last;      /* the Change of the last update, forget or resize; NULL: there was none */
    uint64_t changes;    /* calls that changed what it decides next, except draws */
    unsigned long owner; /* the thread that uses the memory now */
    bool busy;           /* something is under way that changes the memory */
    bool asking;         /* ... and its policy has been called: the owner may ask questions */
} ocdm__memory_object;

bool ocdm__add_memory_type(PyObject *module);

/* ---- stream.c, run.c ------------------------------------------------------------------------------------------------- */

struct ocdm_stream;

bool ocdm__add_stream_types(PyObject *module);
bool ocdm__add_loop_type(PyObject *module);

/* The stream of a StreamFile; NULL with TypeError. */
const struct ocdm_stream *ocdm__stream_of(PyObject *object);

/* ---- metrics.c: functions of the module ------------------------------------------------------------------------------ */

PyObject *ocdm__metrics_names(PyObject *module, PyObject *unused);
PyObject *ocdm__metrics_score(PyObject *module, PyObject *args);
PyObject *ocdm__metrics_measure(PyObject *module, PyObject *args);
PyObject *ocdm__metrics_precision(PyObject *module, PyObject *args);
PyObject *ocdm__metrics_forgetting(PyObject *module, PyObject *args);
PyObject *ocdm__metrics_threshold(PyObject *module, PyObject *args);
PyObject *ocdm__metrics_transfer(PyObject *module, PyObject *args);

/* ---- split.c: functions of the module ------------------------------------------------------------------------------- */

PyObject *ocdm__label_sets(PyObject *module, PyObject *labels);
PyObject *ocdm__split_parts(PyObject *module, PyObject *args);
PyObject *ocdm__select_samples(PyObject *module, PyObject *args);

/* ---- plot.c: function of the module ------------------------------------------------------------------------------------- */

PyObject *ocdm__draw_classes(PyObject *module, PyObject *args);

/* ---- policy.c -------------------------------------------------------------------------------------------------------- */

/* A policy whose functions are methods of a Python object: made for one memory, which it outlives. ValueError, TypeError. */
struct ocdm__python_policy *ocdm__python_policy_create(PyObject *object, ocdm__memory_object *owner);
void ocdm__python_policy_destroy(struct ocdm__python_policy *policy);
const ocdm_policy *ocdm__python_policy_table(const struct ocdm__python_policy *policy);
PyObject *ocdm__python_policy_object(const struct ocdm__python_policy *policy); /* borrowed */

/* While a memory is loaded, the policy's `load` may ask about it before anybody else sees it. */
void ocdm__python_policy_attach(struct ocdm__python_policy *policy, ocdm__memory_object *owner);

/* After a call of the library: raises what a method of the policy raised meanwhile, and returns true if one did. */
bool ocdm__python_policy_raised(struct ocdm__python_policy *policy);

#endif
