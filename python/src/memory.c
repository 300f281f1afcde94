/*
 * The type ocdm._ocdm.Memory: what must be fast, or needs the library. Files, states and copies are built on it in memory.py.
 *
 * One thread at a time may use a memory. The GIL alone does not ensure it: it is released in long calls, and a policy written
 * in Python may release it anywhere. So each call claims the memory, and one that comes in between raises RuntimeError.
 */
#include "module.h"

#include <math.h>
#include <string.h>

#include "memory/internal.h"

#define HELD_UP_TO 4096 /* samples of an update that keep the GIL: to release it costs 0.1 us */

typedef ocdm__memory_object memory_object;

/* ---- one thread at a time --------------------------------------------------------------------------------------------- */

static bool refuse(const char *text)
{
    PyErr_SetString(PyExc_RuntimeError, text);
    return false;
}

static bool in_use(void)
{
    return refuse("this memory is in use, by another thread or because its policy is deciding");
}

/* What a policy's `load` was shown and has kept, although the load failed, has no memory. */
static bool exists(const memory_object *self)
{
    return self->memory != NULL || refuse("this memory was shown to a policy while it was loaded, and does not exist");
}

/* Both are called after the arguments are read, since that may run code of the caller or let another thread go on. */

static bool claim(memory_object *self)
{
    if (self->busy)
        return in_use();
    if (!exists(self))
        return false;
    self->busy = true;
    self->owner = PyThread_get_thread_ident();
    return true;
}

static void release(memory_object *self)
{
    self->busy = false;
}

/* Whether a question may be asked now: also by the policy while it decides. */
static bool may_ask(const memory_object *self)
{
    return (!self->busy || (self->asking && self->owner == PyThread_get_thread_ident()) || in_use()) && exists(self);
}

/* Raises what went wrong in a call of the library; a policy's own exception comes first. */
static PyObject *raise(memory_object *self, const ocdm_error *error)
{
    if (self->policy != NULL && ocdm__python_policy_raised(self->policy))
        return NULL;
    return ocdm__raise(error);
}

/* Fills the Change that was made for it, or raises. */
static PyObject *conclude(memory_object *self, PyObject *result, ocdm_status status, const ocdm_change *change,
                          const ocdm_error *error)
{
    bool raised = self->policy != NULL && ocdm__python_policy_raised(self->policy);
    if (status != OCDM_OK && !raised)
        ocdm__raise(error);
    if (status == OCDM_OK) { /* also when the policy's `end` raised: the memory has changed */
        ocdm__change_fill(result, change);
        self->changes++;
        PyObject *before = self->last;
        self->last = Py_NewRef(result);
        Py_XDECREF(before);
    }
    if (status != OCDM_OK || raised)
        Py_CLEAR(result);
    return result;
}

/* ---- making and deleting ---------------------------------------------------------------------------------------------- */

static bool find_policy(memory_object *self, PyObject *policy, ocdm_options *options)
{
    if (policy == NULL)
        return true;
    if (!PyUnicode_Check(policy)) {
        self->policy = ocdm__python_policy_create(policy, self);
        options->policy = self->policy != NULL ? ocdm__python_policy_table(self->policy) : NULL;
        options->policy_data = self->policy;
        return self->policy != NULL;
    }
    const char *name = PyUnicode_AsUTF8AndSize(policy, NULL);
    options->policy = name != NULL ? ocdm_policy_find(name) : NULL;
    if (name != NULL && options->policy == NULL)
        PyErr_Format(PyExc_ValueError, "no policy is named %R; ocdm.policies() lists them", policy);
    return options->policy != NULL;
}

/* Appends a name to a list in text, separated by commas; what does not fit is cut off. */
static void add_name(char *list, size_t room, const char *name)
{
    size_t used = strlen(list);
    PyOS_snprintf(list + used, room - used, "%s%s", used > 0 ? ", " : "", name);
}

static bool find_names(const char *distance, const char *tie, ocdm_options *options)
{
    char names[200] = "";
    if (distance != NULL && ocdm_distance_find(distance, &options->distance) != OCDM_OK) {
        for (unsigned i = 0; ocdm_distance_name((ocdm_distance)i) != NULL; i++)
            add_name(names, sizeof names, ocdm_distance_name((ocdm_distance)i));
        PyErr_Format(PyExc_ValueError, "no distance is named '%s'; there are %s", distance, names);
        return false;
    }
    if (tie != NULL && ocdm_tie_find(tie, &options->tie) != OCDM_OK) {
        for (unsigned i = 0; ocdm_tie_name((ocdm_tie)i) != NULL; i++)
            add_name(names, sizeof names, ocdm_tie_name((ocdm_tie)i));
        PyErr_Format(PyExc_ValueError, "no tie rule is named '%s'; there are %s", tie, names);
        return false;
    }
    return true;
}

static bool read_options(memory_object *self, PyObject *args, PyObject *kwargs, ocdm_options *options, PyObject **minimums)
{
    static char *names[] = {"capacity", "policy", "distance", "tie", "rho", "seed", "batch", "tolerance", "min", "shard", NULL};
    PyObject *capacity = NULL, *policy = NULL, *seed = NULL, *batch = NULL, *minimum = NULL, *shard = NULL;
    const char *distance = NULL, *tie = NULL;
    uint64_t number;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOssdOOdOO:Memory", names, &capacity, &policy, &distance, &tie,
                                     &options->rho, &seed, &batch, &options->tolerance, &minimum, &shard))
        return false;
    if (minimum != NULL && PyDict_Check(minimum)) {
        *minimums = minimum;
    } else if (minimum != NULL) {
        if (!ocdm__unsigned(minimum, OCDM_MAX_CAPACITY, "min", &number))
            return false;
        options->minimum = (uint32_t)number;
    }
    if (shard != NULL && !ocdm__unsigned(shard, OCDM_MAX_SHARD, "shard", &options->shard))
        return false;
    if (capacity != NULL) {
        if (!ocdm__unsigned(capacity, OCDM_MAX_CAPACITY, "capacity", &number))
            return false;
        options->capacity = (uint32_t)number;
    }
    if (seed != NULL && !ocdm__unsigned(seed, UINT64_MAX, "seed", &options->seed))
        return false;
    if (batch != NULL) {
        if (!ocdm__unsigned(batch, UINT32_MAX, "batch", &number))
            return false;
        options->batch = (uint32_t)number;
    }
    return find_names(distance, tie, options) && find_policy(self, policy, options);
}

/* Gives a label a minimum; false with the exception. */
static bool set_minimum(memory_object *self, PyObject *label, PyObject *object)
{
    uint64_t minimum;
    uint32_t number;
    ocdm_error error = {0};
    return ocdm__unsigned(object, OCDM_MAX_CAPACITY, "a minimum", &minimum) &&
           ocdm__label_number(&self->names, label, true, &number) &&
           (ocdm_memory_set_minimum(self->memory, number, (uint32_t)minimum, &error) == OCDM_OK || ocdm__raise(&error));
}

static bool set_minimums(memory_object *self, PyObject *minimums)
{
    Py_ssize_t position = 0;
    PyObject *label, *minimum;
    while (PyDict_Next(minimums, &position, &label, &minimum))
        if (!set_minimum(self, label, minimum))
            return false;
    return true;
}

static PyObject *memory_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    memory_object *self = (memory_object *)PyType_GenericAlloc(type, 0);
    if (self == NULL)
        return NULL;
    ocdm_options options = ocdm_options_default();
    ocdm_error error = {0};
    PyObject *minimums = NULL;
    if (read_options(self, args, kwargs, &options, &minimums)) {
        if (ocdm_memory_create(&options, &self->memory, &error) != OCDM_OK)
            ocdm__raise(&error);
        else if (minimums == NULL || set_minimums(self, minimums))
            return (PyObject *)self;
    }
    Py_DECREF((PyObject *)self);
    return NULL;
}

static void drop_memory(memory_object *self)
{
    ocdm_memory *memory = self->memory;
    struct ocdm__python_policy *policy = self->policy;
    self->memory = NULL;
    self->policy = NULL;
    ocdm_memory_destroy(memory);
    ocdm__python_policy_destroy(policy); /* last: this may run code of the caller */
}

static int memory_traverse(memory_object *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
    Py_VISIT(self->names.numbers);
    Py_VISIT(self->names.list);
    Py_VISIT(self->last);
    if (self->policy != NULL)
        Py_VISIT(ocdm__python_policy_object(self->policy));
    return 0;
}

static int memory_clear(memory_object *self)
{
    ocdm__names_clear(&self->names);
    Py_CLEAR(self->last);
    drop_memory(self);
    return 0;
}

static void memory_dealloc(memory_object *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    PyObject_GC_UnTrack((PyObject *)self);
    memory_clear(self);
    ocdm__batch_clear(&self->batch);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

/* ---- changing --------------------------------------------------------------------------------------------------------- */

static ocdm_status offer(memory_object *self, ocdm_change *change, ocdm_error *error)
{
    const struct ocdm__batch *batch = &self->batch;
    ocdm_status status;
    if (batch->count <= HELD_UP_TO || self->policy != NULL)
        return ocdm_memory_update_flat(self->memory, batch->ids, batch->offsets, batch->labels, batch->count, change, error);
    Py_BEGIN_ALLOW_THREADS status =
        ocdm_memory_update_flat(self->memory, batch->ids, batch->offsets, batch->labels, batch->count, change, error);
    Py_END_ALLOW_THREADS return status;
}

static PyObject *memory_update(memory_object *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"ids", "labels", "known", NULL};
    PyObject *given[3], *result = NULL;
    if (!ocdm__arguments("update", args, nargs, kwnames, names, 2, given) || !claim(self))
        return NULL;
    struct ocdm__names_mark mark = ocdm__names_mark(&self->names);
    ocdm_change change;
    ocdm_error error = {0};
    bool kept = false;
    if (ocdm__batch_read(&self->batch, &self->names, given[0], given[1], given[2] != NULL ? given[2] : Py_None,
                         ocdm_memory_arrived(self->memory)) &&
        (result = ocdm__change_create(self->batch.count)) != NULL) {
        ocdm_status status = offer(self, &change, &error);
        kept = status == OCDM_OK;
        result = conclude(self, result, status, &change, &error);
    }
    if (!kept)
        ocdm__names_cut(&self->names, mark);
    release(self);
    return result;
}

/* ---- drawing ---------------------------------------------------------------------------------------------------------- */

/* What a draw was asked for; `weights` and `exclude` are arrays that were opened, or not: obj is NULL then. */
struct draw {
    uint64_t count;
    bool balanced, replace;
    Py_buffer weights, exclude;
};

static bool is_weighted(const struct draw *draw)
{
    return draw->balanced || draw->replace || draw->weights.obj != NULL || draw->exclude.obj != NULL;
}

/* Opens anything that NumPy can make an array of one dimension of that type; None and nothing are no array. */
static bool open_numbers(PyObject *object, const char *dtype, const char *what, Py_buffer *view)
{
    static PyObject *require;
    if (object == NULL || object == Py_None)
        return true;
    if (ocdm__imported(&require, "numpy", "ascontiguousarray") == NULL)
        return false;
    PyObject *array = PyObject_CallFunction(require, "Os", object, dtype);
    bool opened = array != NULL && PyObject_GetBuffer(array, view, PyBUF_ND) == 0;
    Py_XDECREF(array);
    if (opened && view->ndim != 1)
        PyErr_Format(PyExc_ValueError, "%s must have one dimension", what);
    return opened && view->ndim == 1;
}

static bool read_draw(struct draw *draw, PyObject *const *given)
{
    if (!ocdm__unsigned(given[0], PY_SSIZE_T_MAX, "the number of samples to draw", &draw->count))
        return false;
    draw->balanced =
        given[1] != NULL && PyUnicode_Check(given[1]) && PyUnicode_CompareWithASCIIString(given[1], "balanced") == 0;
    if (given[1] != NULL && !draw->balanced &&
        (!PyUnicode_Check(given[1]) || PyUnicode_CompareWithASCIIString(given[1], "uniform") != 0))
        return PyErr_Format(PyExc_ValueError, "by must be 'uniform' or 'balanced', not %R", given[1]) != NULL;
    int replace = given[3] != NULL ? PyObject_IsTrue(given[3]) : 0;
    draw->replace = replace == 1;
    return replace >= 0 && open_numbers(given[2], "float64", "weights", &draw->weights) &&
           open_numbers(given[4], "int64", "exclude", &draw->exclude);
}

/* The weight of each slot: that of the rule, times the caller's, 0 for those that are excluded. */
static bool fill_weights(const struct draw *draw, const ocdm_memory *memory, double *weight)
{
    uint32_t size = ocdm_memory_size(memory);
    const double *given = draw->weights.buf;
    const int64_t *exclude = draw->exclude.buf;
    for (uint32_t slot = 0; slot < size; slot++)
        weight[slot] = 1;
    if (draw->balanced)
        ocdm__memory_balance(memory, weight);
    if (given != NULL && draw->weights.shape[0] != (Py_ssize_t)size)
        return PyErr_Format(PyExc_ValueError, "there are %zd weights and %lu samples", draw->weights.shape[0],
                            (unsigned long)size) != NULL;
    for (uint32_t slot = 0; given != NULL && slot < size; slot++) {
        if (!(given[slot] >= 0 && given[slot] <= 1e300))
            return PyErr_Format(PyExc_ValueError, "the weight of slot %lu is negative or not finite", (unsigned long)slot) !=
                   NULL;
        weight[slot] *= given[slot];
    }
    for (Py_ssize_t i = 0; exclude != NULL && i < draw->exclude.shape[0]; i++) {
        if (exclude[i] < 0 || exclude[i] >= (int64_t)size)
            return PyErr_Format(PyExc_IndexError, "slot %lld is not in use", (long long)exclude[i]) != NULL;
        weight[exclude[i]] = 0;
    }
    return true;
}

/* Draws by weights; the slots as 64-bit numbers in `wide`, room for `wanted`. -1 with the exception. */
static Py_ssize_t draw_weighted(memory_object *self, const struct draw *draw, uint32_t *slots, size_t wanted)
{
    uint32_t size = ocdm_memory_size(self->memory);
    size_t room = wanted > size ? wanted : size;
    double *weight = PyMem_Malloc((size + (size_t)1) * sizeof *weight);
    double *scratch = PyMem_Malloc((room + 1) * sizeof *scratch);
    Py_ssize_t drawn = -1;
    if (weight == NULL || scratch == NULL) {
        PyErr_NoMemory();
    } else if (fill_weights(draw, self->memory, weight)) {
        uint64_t seed = ocdm_memory_options(self->memory)->seed, number = ocdm__memory_draws(self->memory);
        ocdm_memory_draw(self->memory, 0, slots);
        drawn = (Py_ssize_t)(draw->replace ? ocdm__draw_again : ocdm__draw_apart)(seed, number, weight, size, slots, scratch,
                                                                                  wanted);
    }
    PyMem_Free(weight);
    PyMem_Free(scratch);
    return drawn;
}

/* Makes the draw that was asked for. */
static PyObject *make_draw(memory_object *self, const struct draw *draw)
{
    uint32_t few[64], *slots = few, size = ocdm_memory_size(self->memory);
    int64_t some[64], *wide = some;
    size_t wanted = draw->count < size || (draw->replace && size > 0) ? (size_t)draw->count : size;
    if (wanted > 64) {
        slots = wanted < PY_SSIZE_T_MAX / sizeof *wide ? PyMem_Malloc(wanted * sizeof *slots) : NULL;
        wide = slots != NULL ? PyMem_Malloc(wanted * sizeof *wide) : NULL;
    }
    PyObject *result = NULL;
    if (slots == NULL || wide == NULL) {
        PyErr_NoMemory();
    } else {
        /* What is drawn uniformly depends on the number asked for, so all of it is passed on. */
        Py_ssize_t drawn = is_weighted(draw) ? draw_weighted(self, draw, slots, wanted)
                                             : (Py_ssize_t)ocdm_memory_draw(self->memory, (size_t)draw->count, slots);
        for (Py_ssize_t i = 0; i < drawn; i++)
            wide[i] = slots[i];
        result = drawn >= 0 ? ocdm__int64_array(wide, (size_t)drawn) : NULL;
    }
    if (slots != few)
        PyMem_Free(slots);
    if (wide != some)
        PyMem_Free(wide);
    return result;
}

static PyObject *memory_draw(memory_object *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"count", "by", "weights", "replace", "exclude", NULL};
    PyObject *given[5], *result = NULL;
    struct draw draw = {.count = 0};
    if (ocdm__arguments("draw", args, nargs, kwnames, names, 1, given) && read_draw(&draw, given) && claim(self)) {
        result = make_draw(self, &draw);
        release(self);
    }
    PyBuffer_Release(&draw.weights);
    PyBuffer_Release(&draw.exclude);
    return result;
}

/* ---- changing, one sample or all ---------------------------------------------------------------------------------------- */

static PyObject *memory_forget(memory_object *self, PyObject *object)
{
    uint64_t id;
    if (!ocdm__id_read(object, &id) || !claim(self))
        return NULL;
    ocdm_change change;
    ocdm_error error = {0};
    PyObject *result = ocdm__change_create(1);
    if (result != NULL)
        result = conclude(self, result, ocdm_memory_forget(self->memory, id, &change, &error), &change, &error);
    release(self);
    return result;
}

static PyObject *memory_resize(memory_object *self, PyObject *object)
{
    uint64_t capacity;
    if (!ocdm__unsigned(object, OCDM_MAX_CAPACITY, "capacity", &capacity) || !claim(self))
        return NULL;
    ocdm_change change;
    ocdm_error error = {0};
    uint32_t size = ocdm_memory_size(self->memory);
    PyObject *result = ocdm__change_create(size > capacity ? size - (size_t)capacity : 0);
    if (result != NULL)
        result = conclude(self, result, ocdm_memory_resize(self->memory, (uint32_t)capacity, &change, &error), &change, &error);
    release(self);
    return result;
}

static PyObject *memory_begin_task(memory_object *self, PyObject *unused)
{
    (void)unused;
    if (!claim(self))
        return NULL;
    ocdm_change change;
    ocdm_error error = {0};
    PyObject *result = ocdm__change_create(ocdm_memory_size(self->memory));
    if (result != NULL)
        result = conclude(self, result, ocdm_memory_begin_task(self->memory, &change, &error), &change, &error);
    release(self);
    return result;
}

/* Ends a change of what is set for a class: None, or the exception, and then the names are those before it. */
static PyObject *end_setting(memory_object *self, bool done, struct ocdm__names_mark mark)
{
    if (done)
        self->changes++;
    else
        ocdm__names_cut(&self->names, mark);
    release(self);
    return done ? Py_NewRef(Py_None) : NULL;
}

static PyObject *memory_set_weight(memory_object *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"label", "weight", NULL};
    PyObject *given[2];
    if (!ocdm__arguments("set_weight", args, nargs, kwnames, names, 2, given))
        return NULL;
    double weight = PyFloat_AsDouble(given[1]);
    if (PyErr_Occurred() || !claim(self))
        return NULL;
    struct ocdm__names_mark mark = ocdm__names_mark(&self->names);
    uint32_t number;
    ocdm_error error = {0};
    bool done = ocdm__label_number(&self->names, given[0], true, &number);
    if (done && ocdm_memory_set_weight(self->memory, number, weight, &error) != OCDM_OK) {
        ocdm__raise(&error);
        done = false;
    }
    return end_setting(self, done, mark);
}

static PyObject *memory_set_minimum(memory_object *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"label", "minimum", NULL};
    PyObject *given[2];
    if (!ocdm__arguments("set_minimum", args, nargs, kwnames, names, 2, given) || !claim(self))
        return NULL;
    struct ocdm__names_mark mark = ocdm__names_mark(&self->names);
    return end_setting(self, set_minimum(self, given[0], given[1]), mark);
}

/* ---- questions -------------------------------------------------------------------------------------------------------- */

static Py_ssize_t memory_length(memory_object *self)
{
    return may_ask(self) ? (Py_ssize_t)ocdm_memory_size(self->memory) : -1;
}

static int memory_contains(memory_object *self, PyObject *object)
{
    uint64_t id = 0;
    bool index = PyIndex_Check(object) != 0;
    if ((index && !ocdm__id_read(object, &id)) || !may_ask(self))
        return -1;
    return index && ocdm_memory_find(self->memory, id) != OCDM_NONE;
}

static PyObject *memory_find(memory_object *self, PyObject *object)
{
    uint64_t id;
    if (!ocdm__id_read(object, &id) || !may_ask(self))
        return NULL;
    uint32_t slot = ocdm_memory_find(self->memory, id);
    return slot == OCDM_NONE ? Py_NewRef(Py_None) : PyLong_FromUnsignedLong(slot);
}

static PyObject *labels_of(const memory_object *self, uint32_t slot)
{
    uint32_t few[64], *labels = few;
    size_t count = ocdm_memory_labels(self->memory, slot, few, 64);
    if (count > 64) {
        labels = PyMem_Malloc(count * sizeof *labels);
        if (labels == NULL)
            return PyErr_NoMemory();
        ocdm_memory_labels(self->memory, slot, labels, count);
    }
    PyObject *list = ocdm__label_list(&self->names, labels, count);
    if (labels != few)
        PyMem_Free(labels);
    return list;
}

static PyObject *list_label_sets(const struct ocdm__names *names, const uint64_t *offsets, const uint32_t *labels,
                                 uint32_t size)
{
    PyObject *list = PyList_New((Py_ssize_t)size);
    for (uint32_t i = 0; list != NULL && i < size; i++) {
        PyObject *set = ocdm__label_list(names, labels + offsets[i], (size_t)(offsets[i + 1] - offsets[i]));
        if (set == NULL || PyList_SetItem(list, (Py_ssize_t)i, set) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* All labels are copied before the first list is made: that may run a finalizer, which may change the memory. */
static PyObject *all_labels(const memory_object *self)
{
    uint32_t size = ocdm_memory_size(self->memory);
    size_t total = ocdm_memory_all_labels(self->memory, NULL, NULL, 0);
    uint64_t *offsets = PyMem_Malloc((size + (size_t)1) * sizeof *offsets);
    uint32_t *labels = PyMem_Malloc((total + 1) * sizeof *labels);
    PyObject *list = NULL;
    if (offsets != NULL && labels != NULL) {
        ocdm_memory_all_labels(self->memory, offsets, labels, total);
        list = list_label_sets(&self->names, offsets, labels, size);
    } else {
        PyErr_NoMemory();
    }
    PyMem_Free(offsets);
    PyMem_Free(labels);
    return list;
}

static PyObject *memory_labels(memory_object *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"slot", NULL};
    PyObject *given[1];
    uint64_t slot;
    if (!ocdm__arguments("labels", args, nargs, kwnames, names, 0, given))
        return NULL;
    if (given[0] == NULL || given[0] == Py_None)
        return may_ask(self) ? all_labels(self) : NULL;
    if (!ocdm__unsigned(given[0], OCDM_MAX_CAPACITY, "slot", &slot) || !may_ask(self))
        return NULL;
    if (slot >= ocdm_memory_size(self->memory)) {
        PyErr_Format(PyExc_IndexError, "slot %llu is not in use", (unsigned long long)slot);
        return NULL;
    }
    return labels_of(self, (uint32_t)slot);
}

static PyObject *memory_weight(memory_object *self, PyObject *label)
{
    uint32_t number;
    if (!ocdm__label_number(&self->names, label, false, &number) || !may_ask(self))
        return NULL;
    return PyFloat_FromDouble(number == OCDM_NONE && PyUnicode_Check(label) ? 1 : ocdm_memory_weight(self->memory, number));
}

static PyObject *memory_minimum(memory_object *self, PyObject *label)
{
    uint32_t number;
    if (!ocdm__label_number(&self->names, label, false, &number) || !may_ask(self))
        return NULL;
    bool new_name = number == OCDM_NONE && PyUnicode_Check(label);
    return PyLong_FromUnsignedLong(new_name ? ocdm_memory_options(self->memory)->minimum
                                            : ocdm_memory_minimum(self->memory, number));
}

static PyObject *memory_distance(memory_object *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"scope", NULL};
    PyObject *given[1];
    if (!may_ask(self) || !ocdm__arguments("distance", args, nargs, kwnames, names, 0, given))
        return NULL;
    ocdm_scope scope = OCDM_IN_PLAY;
    if (given[0] != NULL && PyUnicode_Check(given[0]) && PyUnicode_CompareWithASCIIString(given[0], "seen") == 0)
        scope = OCDM_SEEN_EVER;
    else if (given[0] != NULL && (!PyUnicode_Check(given[0]) || PyUnicode_CompareWithASCIIString(given[0], "in-play") != 0))
        return PyErr_Format(PyExc_ValueError, "scope must be 'in-play' or 'seen', not %R", given[0]);
    return PyFloat_FromDouble(ocdm_memory_distance(self->memory, scope));
}

static PyObject *memory_random(memory_object *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"below", "draw", NULL};
    PyObject *given[2];
    uint64_t below, draw = 0;
    if (!ocdm__arguments("random", args, nargs, kwnames, names, 1, given) ||
        !ocdm__unsigned(given[0], UINT64_MAX, "below", &below) ||
        (given[1] != NULL && !ocdm__unsigned(given[1], UINT32_MAX, "draw", &draw)) || !may_ask(self))
        return NULL;
    return PyLong_FromUnsignedLongLong(ocdm_memory_random(self->memory, (uint32_t)draw, below));
}

/* One number per slot as an int64 array. */
static PyObject *by_slot(memory_object *self, uint64_t (*number)(const ocdm_memory *, uint32_t))
{
    if (!may_ask(self))
        return NULL;
    uint32_t size = ocdm_memory_size(self->memory);
    int64_t *values = PyMem_Malloc((size + (size_t)1) * sizeof *values);
    if (values == NULL)
        return PyErr_NoMemory();
    for (uint32_t i = 0; i < size; i++)
        values[i] = (int64_t)number(self->memory, i);
    PyObject *array = ocdm__int64_array(values, size);
    PyMem_Free(values);
    return array;
}

static PyObject *get_ids(memory_object *self, void *unused)
{
    (void)unused;
    return by_slot(self, ocdm_memory_id);
}

static PyObject *get_arrivals(memory_object *self, void *unused)
{
    (void)unused;
    return by_slot(self, ocdm_memory_arrival);
}

static PyObject *get_arrived(memory_object *self, void *unused)
{
    (void)unused;
    return may_ask(self) ? PyLong_FromUnsignedLongLong(ocdm_memory_arrived(self->memory)) : NULL;
}

static PyObject *get_policy(memory_object *self, void *unused)
{
    (void)unused;
    if (self->policy != NULL)
        return Py_NewRef(ocdm__python_policy_object(self->policy));
    return exists(self) ? PyUnicode_FromString(ocdm_memory_options(self->memory)->policy->name) : NULL;
}

static PyObject *get_capacity(memory_object *self, void *unused)
{
    (void)unused;
    return exists(self) ? PyLong_FromUnsignedLong(ocdm_memory_options(self->memory)->capacity) : NULL;
}

static PyObject *get_seed(memory_object *self, void *unused)
{
    (void)unused;
    return exists(self) ? PyLong_FromUnsignedLongLong(ocdm_memory_options(self->memory)->seed) : NULL;
}

static PyObject *get_rho(memory_object *self, void *unused)
{
    (void)unused;
    return exists(self) ? PyFloat_FromDouble(ocdm_memory_options(self->memory)->rho) : NULL;
}

static PyObject *get_min(memory_object *self, void *unused)
{
    (void)unused;
    return exists(self) ? PyLong_FromUnsignedLong(ocdm_memory_options(self->memory)->minimum) : NULL;
}

static PyObject *get_shard(memory_object *self, void *unused)
{
    (void)unused;
    return exists(self) ? PyLong_FromUnsignedLongLong(ocdm_memory_options(self->memory)->shard) : NULL;
}

static PyObject *get_last_change(memory_object *self, void *unused)
{
    (void)unused;
    return Py_NewRef(self->last != NULL ? self->last : Py_None);
}

static PyObject *get_draws(memory_object *self, void *unused)
{
    (void)unused;
    return may_ask(self) ? PyLong_FromUnsignedLongLong(ocdm__memory_draws(self->memory)) : NULL;
}

static PyObject *get_changes(memory_object *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(self->changes);
}

static PyObject *get_tolerance(memory_object *self, void *unused)
{
    (void)unused;
    return exists(self) ? PyFloat_FromDouble(ocdm_memory_options(self->memory)->tolerance) : NULL;
}

static PyObject *get_tie(memory_object *self, void *unused)
{
    (void)unused;
    return exists(self) ? PyUnicode_FromString(ocdm_tie_name(ocdm_memory_options(self->memory)->tie)) : NULL;
}

static PyObject *get_distance_name(memory_object *self, void *unused)
{
    (void)unused;
    return exists(self) ? PyUnicode_FromString(ocdm_distance_name(ocdm_memory_options(self->memory)->distance)) : NULL;
}

static PyObject *get_names(memory_object *self, void *unused)
{
    (void)unused;
    if (self->names.kind != OCDM__NAMES)
        return Py_NewRef(Py_None);
    return self->names.list != NULL ? PyList_GetSlice(self->names.list, 0, PyList_Size(self->names.list)) : PyList_New(0);
}

/* A row of the array of counts, laid out as the dtype in memory.py. */
struct count_row {
    int64_t id, kept, seen;
    double target;
};

static PyObject *memory_count_rows(memory_object *self, PyObject *unused)
{
    (void)unused;
    if (!may_ask(self))
        return NULL;
    size_t count = ocdm_memory_counts(self->memory, NULL, 0);
    ocdm_class *classes = PyMem_Malloc((count + 1) * sizeof *classes);
    PyObject *bytes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(count * sizeof(struct count_row)));
    if (classes == NULL || bytes == NULL) {
        PyMem_Free(classes);
        Py_XDECREF(bytes);
        return PyErr_NoMemory();
    }
    ocdm_memory_counts(self->memory, classes, count);
    char *rows = PyByteArray_AsString(bytes);
    for (size_t i = 0; i < count; i++) {
        struct count_row row = {classes[i].id, classes[i].kept, (int64_t)classes[i].seen, classes[i].target};
        memcpy(rows + i * sizeof row, &row, sizeof row);
    }
    PyMem_Free(classes);
    return bytes;
}

/* ---- bytes ------------------------------------------------------------------------------------------------------------ */

/* The GIL is released unless the policy is Python's. */
static ocdm_status save(memory_object *self, const char *path, unsigned char *bytes, size_t room, size_t *size,
                        ocdm_error *error)
{
    PyThreadState *thread = self->policy == NULL ? PyEval_SaveThread() : NULL;
    ocdm_status status = path != NULL ? ocdm_memory_save(self->memory, path, error)
                                      : ocdm_memory_save_bytes(self->memory, bytes, room, size, error);
    if (thread != NULL)
        PyEval_RestoreThread(thread);
    return status;
}

static PyObject *memory_save_bytes(memory_object *self, PyObject *unused)
{
    (void)unused;
    ocdm_error error = {0};
    size_t size = 0;
    PyObject *bytes = NULL;
    if (!claim(self))
        return NULL;
    ocdm_status status = save(self, NULL, NULL, 0, &size, &error);
    if (status == OCDM_OK)
        bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (bytes != NULL)
        status = save(self, NULL, (unsigned char *)PyBytes_AsString(bytes), size, &size, &error);
    if (status != OCDM_OK) {
        Py_CLEAR(bytes);
        raise(self, &error);
    }
    release(self);
    return bytes;
}

static PyObject *memory_save_file(memory_object *self, PyObject *path)
{
    ocdm_error error = {0};
    char *text;
    if (PyBytes_AsStringAndSize(path, &text, NULL) < 0 || !claim(self))
        return NULL;
    ocdm_status status = save(self, text, NULL, 0, NULL, &error);
    release(self);
    return status == OCDM_OK ? Py_NewRef(Py_None) : raise(self, &error);
}

static ocdm_status load(const Py_buffer *bytes, memory_object *loaded, ocdm_error *error)
{
    static const unsigned char nothing[1];
    struct ocdm__python_policy *policy = loaded->policy;
    const unsigned char *data = bytes->len > 0 ? bytes->buf : nothing;
    PyThreadState *thread = policy == NULL ? PyEval_SaveThread() : NULL;
    ocdm_status status = ocdm_memory_load_bytes(
        data, (size_t)bytes->len, policy != NULL ? ocdm__python_policy_table(policy) : NULL, policy, &loaded->memory, error);
    if (thread != NULL)
        PyEval_RestoreThread(thread);
    return status;
}

/* Whether a loaded memory has a name for each of its classes, if its labels are names. */
static bool names_fit(const memory_object *loaded)
{
    size_t count = ocdm_memory_counts(loaded->memory, NULL, 0);
    ocdm_class *classes = PyMem_Malloc((count + 1) * sizeof *classes);
    if (classes == NULL) {
        PyErr_NoMemory();
        return false;
    }
    ocdm_memory_counts(loaded->memory, classes, count);
    bool fit = true;
    for (size_t i = 0; i < count && loaded->names.kind == OCDM__NAMES; i++)
        fit &= classes[i].id < ocdm__names_count(&loaded->names);
    PyMem_Free(classes);
    if (!fit)
        PyErr_SetString(PyExc_ValueError, "a class has no name; the state is damaged");
    return fit;
}

/* Takes the memory, policy and names of `loaded`, which gets the old ones, to be dropped. */
static void exchange(memory_object *self, memory_object *loaded)
{
    ocdm_memory *memory = self->memory;
    struct ocdm__python_policy *policy = self->policy;
    struct ocdm__names names = self->names;
    self->memory = loaded->memory;
    self->policy = loaded->policy;
    self->names = loaded->names;
    loaded->memory = memory;
    loaded->policy = policy;
    loaded->names = names;
    if (self->policy != NULL)
        ocdm__python_policy_attach(self->policy, self);
}

/* Whether a loaded memory has the capacity that it should. */
static bool capacity_fits(const memory_object *self, const memory_object *loaded)
{
    uint32_t now = ocdm_memory_options(self->memory)->capacity, then = ocdm_memory_options(loaded->memory)->capacity;
    if (now != then)
        PyErr_Format(PyExc_ValueError, "the state is of capacity %lu, and this is of capacity %lu; resize(%lu) first",
                     (unsigned long)then, (unsigned long)now, (unsigned long)then);
    return now == then;
}

/* restore(bytes, policy or None, names or None, any_capacity): becomes the memory that was saved, or nothing changes. */
static PyObject *memory_restore(memory_object *self, PyObject *args)
{
    Py_buffer bytes;
    PyObject *policy, *names;
    int any_capacity;
    if (!PyArg_ParseTuple(args, "y*OOp", &bytes, &policy, &names, &any_capacity))
        return NULL;
    memory_object *loaded = (memory_object *)PyType_GenericAlloc(Py_TYPE((PyObject *)self), 0);
    ocdm_error error = {0};
    bool done = loaded != NULL && claim(self);
    bool claimed = done;
    if (done && policy != Py_None)
        done = (loaded->policy = ocdm__python_policy_create(policy, loaded)) != NULL;
    if (done && (done = ocdm__names_set(&loaded->names, names)) && load(&bytes, loaded, &error) != OCDM_OK) {
        raise(loaded, &error);
        done = false;
    }
    if (done && (done = names_fit(loaded) && (any_capacity || capacity_fits(self, loaded)))) {
        if (loaded->names.kind == OCDM__NO_LABELS_YET && ocdm_memory_counts(loaded->memory, NULL, 0) > 0)
            loaded->names.kind = OCDM__NUMBERS;
        exchange(self, loaded);
    }
    if (claimed) {
        self->changes++;
        release(self);
    }
    if (loaded != NULL)
        drop_memory(loaded); /* the policy may have kept the object */
    Py_XDECREF((PyObject *)loaded);
    PyBuffer_Release(&bytes);
    return done ? Py_NewRef(Py_None) : NULL;
}

/* The last batch that was read as bytes: ids, offsets, labels. For a log, and for other processes. */
static PyObject *memory_batch_bytes(memory_object *self, PyObject *unused)
{
    (void)unused;
    const struct ocdm__batch *batch = &self->batch;
    if (!may_ask(self))
        return NULL;
    static const char nothing[1];
    const void *ids = batch->ids != NULL ? (const void *)batch->ids : nothing;
    const void *offsets = batch->offsets != NULL ? (const void *)batch->offsets : nothing;
    const void *labels = batch->labels != NULL ? (const void *)batch->labels : nothing;
    size_t ends = batch->offsets != NULL ? batch->count + 1 : 0;
    return Py_BuildValue("y#y#y#", ids, (Py_ssize_t)(batch->count * sizeof *batch->ids), offsets,
                         (Py_ssize_t)(ends * sizeof *batch->offsets), labels,
                         (Py_ssize_t)(batch->label_count * sizeof *batch->labels));
}

/* read_batch(ids, labels, known): reads a batch as update does, and offers it to nobody. */
static PyObject *memory_read_batch(memory_object *self, PyObject *args)
{
    PyObject *ids, *labels, *known;
    if (!PyArg_ParseTuple(args, "OOO", &ids, &labels, &known) || !claim(self))
        return NULL;
    bool read = ocdm__batch_read(&self->batch, &self->names, ids, labels, known, 0);
    release(self);
    return read ? memory_batch_bytes(self, NULL) : NULL;
}

/* ---- merging ---------------------------------------------------------------------------------------------------------- */

/* Claims all memories of a list, or none. */
static bool claim_all(PyObject *list, const ocdm_memory **memories)
{
    for (Py_ssize_t i = 0; i < PyList_Size(list); i++) {
        memory_object *object = (memory_object *)PyList_GetItem(list, i);
        if (!claim(object)) {
            while (i > 0)
                release((memory_object *)PyList_GetItem(list, --i));
            return false;
        }
        memories[i] = object->memory;
    }
    return true;
}

/* merge(memories, capacity, names): this new memory becomes what the memories of shards are together. */
static PyObject *memory_merge(memory_object *self, PyObject *args)
{
    PyObject *list, *capacity_object, *names;
    uint64_t capacity;
    ocdm_error error = {0};
    ocdm_memory *merged = NULL;
    ocdm_status status;
    if (!PyArg_ParseTuple(args, "O!OO", &PyList_Type, &list, &capacity_object, &names) ||
        !ocdm__unsigned(capacity_object, OCDM_MAX_CAPACITY, "capacity", &capacity))
        return NULL;
    const ocdm_memory **memories = PyMem_Malloc(((size_t)PyList_Size(list) + 1) * sizeof *memories);
    if (memories == NULL)
        return PyErr_NoMemory();
    bool done = ocdm__names_set(&self->names, names) && claim_all(list, memories);
    if (done) {
        Py_BEGIN_ALLOW_THREADS;
        status = ocdm_memory_merge(memories, (size_t)PyList_Size(list), (uint32_t)capacity, &merged, &error);
        Py_END_ALLOW_THREADS;
        for (Py_ssize_t i = 0; i < PyList_Size(list); i++)
            release((memory_object *)PyList_GetItem(list, i));
        done = status == OCDM_OK || ocdm__raise(&error) != NULL;
    }
    PyMem_Free(memories);
    if (!done)
        return NULL;
    ocdm_memory_destroy(self->memory);
    self->memory = merged;
    if (names == Py_None && ocdm_memory_counts(merged, NULL, 0) > 0)
        self->names.kind = OCDM__NUMBERS;
    return Py_NewRef(Py_None);
}

/* ---- the type --------------------------------------------------------------------------------------------------------- */

#define FAST (METH_FASTCALL | METH_KEYWORDS)

static PyMethodDef memory_methods[] = {
    {"update", (PyCFunction)(void (*)(void))memory_update, FAST,
     "update($self, /, ids, labels, known=None)\n--\n\n"
     "Offers a batch to the memory; the policy decides which samples are kept. Returns a Change.\n\n"
     "ids      integers of 64 bits that are not in the memory: an array or a list; None: numbered by arrival\n"
     "labels   the label set of each sample, in one of these forms:\n"
     "         - a list of iterables of integers or of strings; an integer or a string alone is one label\n"
     "         - an array of [n] integers: one label each\n"
     "         - an array [n, C] of bools, integers or floats: class c where the value is above 0.5; a UserWarning if there are\n"
     "           values other than 0 and 1, or another C than before; integers [n, 1] are refused: write labels[:, 0]\n"
     "         - a tuple (offsets, labels) of two integer arrays, as in a CSR matrix\n"
     "         - a scipy sparse matrix [n, C]\n"
     "         torch tensors on any device are fine wherever arrays are\n"
     "known    for labels [n, C]: bools of their shape; a class counts only where it is known, what is elsewhere may be NaN\n\n"
     "A batch with anything wrong is refused as a whole, and nothing changes: KeyError for an id that is in memory already or\n"
     "comes twice, ValueError for all else. What your own iterators raise passes through, except TypeError.\n\n"
     ">>> memory = ocdm.Memory(capacity=2)\n"
     ">>> change = memory.update([10, 11, 12], [['cat'], ['cat', 'dog'], ['cat']])\n"
     ">>> memory.labels()[memory.find(11)]\n"
     "['cat', 'dog']\n"
     ">>> 11 in memory, len(memory), memory.arrived\n"
     "(True, 2, 3)"},
    {"draw", (PyCFunction)(void (*)(void))memory_draw, FAST,
     "draw($self, /, count, by='uniform', weights=None, replace=False, exclude=None)\n--\n\n"
     "Draws slots to replay, an int64 array: without replacement at most `count`. The n-th draw follows from the seed, whichever\n"
     "the memory's policy is, and those by 'balanced' are those of `ocdm run --replay-policy balanced`.\n\n"
     "by       'uniform': each sample alike; 'balanced': each class of the memory alike, then each of its samples\n"
     "weights  a number for each slot, which its chance is multiplied by; 0: it is not drawn\n"
     "replace  draw each from all slots, so that some may come twice\n"
     "exclude  slots that are not drawn, such as those of the last update\n\n"
     ">>> memory = ocdm.Memory(capacity=100)\n"
     ">>> change = memory.update(range(100), [[i % 7] for i in range(100)])\n"
     ">>> len(memory.draw(10)), len(memory.draw(200)), len(memory.draw(200, replace=True))\n"
     "(10, 100, 200)\n"
     ">>> 5 in memory.draw(100, exclude=[5])\n"
     "False"},
    {"find", (PyCFunction)memory_find, METH_O,
     "find($self, id, /)\n--\n\nThe slot that holds the sample, or None.\n\n"
     ">>> memory = ocdm.Memory(capacity=2)\n"
     ">>> change = memory.update([5], [[0]])\n"
     ">>> memory.find(5), memory.find(6)\n"
     "(0, None)"},
    {"forget", (PyCFunction)memory_forget, METH_O,
     "forget($self, id, /)\n--\n\n"
     "Deletes a sample on request; the one in the last slot moves into the free one, as the Change says. KeyError if the "
     "memory "
     "does not hold it.\n\n"
     ">>> memory = ocdm.Memory(capacity=3)\n"
     ">>> change = memory.update([5, 6, 7], [[0], [1], [2]])\n"
     ">>> change = memory.forget(5)\n"
     ">>> change.moved_from, change.moved_to\n"
     "(array([2]), array([0]))"},
    {"resize", (PyCFunction)memory_resize, METH_O,
     "resize($self, capacity, /)\n--\n\n"
     "Changes the capacity. A smaller one deletes samples by the policy's rule, and samples in slots that no longer exist "
     "move.\n\n"
     ">>> memory = ocdm.Memory(capacity=3)\n"
     ">>> change = memory.update([5, 6, 7], [[0], [1], [1]])\n"
     ">>> memory.resize(2)\n"
     "Change(stored=0, left=1, moved=0)\n"
     ">>> sorted(memory.labels())\n"
     "[[0], [1]]"},
    {"begin_task", (PyCFunction)memory_begin_task, METH_NOARGS,
     "begin_task($self, /)\n--\n\n"
     "Says that the next samples begin a new task. The policy bat-ocdm makes room for it: the memory of each earlier task is shrunk\n"
     "to an equal share. To all other policies it means nothing.\n\n"
     ">>> memory = ocdm.Memory(capacity=4, policy='bat-ocdm')\n"
     ">>> change = memory.update([5, 6, 7, 8], [[0], [1], [1], [2]])\n"
     ">>> memory.begin_task()\n"
     "Change(stored=0, left=2, moved=0)"},
    {"set_weight", (PyCFunction)(void (*)(void))memory_set_weight, FAST,
     "set_weight($self, /, label, weight)\n--\n\n"
     "Gives a class a weight in the target, 1e-6 to 1e6: p_i ~ w_i n_i^rho. 1 takes it back.\n\n"
     ">>> memory = ocdm.Memory(capacity=10)\n"
     ">>> memory.set_weight('cat', 3)\n"
     ">>> memory.weight('cat'), memory.weight('dog')\n"
     "(3.0, 1.0)"},
    {"set_minimum", (PyCFunction)(void (*)(void))memory_set_minimum, FAST,
     "set_minimum($self, /, label, minimum)\n--\n\n"
     "Keeps at least this many samples of a class, of those that come from now on, instead of `min`. For the policies ocdm and\n"
     "onlyone with the distance kl. An update that would have to go below a minimum is a ValueError, and nothing changes.\n\n"
     ">>> memory = ocdm.Memory(capacity=3)\n"
     ">>> memory.set_minimum('cat', 2)\n"
     ">>> change = memory.update([1, 2, 3, 4, 5], [['cat'], ['cat'], ['dog'], ['bird'], ['bird']])\n"
     ">>> memory.labels().count(['cat']), memory.minimum('cat'), memory.minimum('dog')\n"
     "(2, 2, 0)"},
    {"minimum", (PyCFunction)memory_minimum, METH_O,
     "minimum($self, label, /)\n--\n\nThe minimum of a class, `min` by default."},
    {"weight", (PyCFunction)memory_weight, METH_O, "weight($self, label, /)\n--\n\nThe weight of a class, 1 by default."},
    {"labels", (PyCFunction)(void (*)(void))memory_labels, FAST,
     "labels($self, /, slot=None)\n--\n\n"
     "The labels of the sample in a slot, ascending by number; without a slot, a list with those of all slots.\n\n"
     ">>> memory = ocdm.Memory(capacity=2)\n"
     ">>> change = memory.update([5, 6], [[3, 1], []])\n"
     ">>> memory.labels(0), memory.labels()\n"
     "([1, 3], [[1, 3], []])"},
    {"distance", (PyCFunction)(void (*)(void))memory_distance, FAST,
     "distance($self, /, scope='in-play')\n--\n\n"
     "How far the class distribution in memory is from the target, over the classes in play, or with 'seen' over all classes "
     "seen "
     "so far; NaN when no sample has a label.\n\n"
     ">>> memory = ocdm.Memory(capacity=2)\n"
     ">>> change = memory.update([5, 6], [[0], [1]])\n"
     ">>> memory.distance()\n"
     "0.0"},
    {"random", (PyCFunction)(void (*)(void))memory_random, FAST,
     "random($self, /, below, draw=0)\n--\n\n"
     "For a policy: a random integer from 0 to below - 1 that follows from the seed, the decision and `draw`, which tells "
     "several "
     "numbers of one decision apart."},
    {"_count_rows", (PyCFunction)memory_count_rows, METH_NOARGS, NULL},
    {"_batch_bytes", (PyCFunction)memory_batch_bytes, METH_NOARGS, NULL},
    {"_read_batch", (PyCFunction)memory_read_batch, METH_VARARGS, NULL},
    {"_save_bytes", (PyCFunction)memory_save_bytes, METH_NOARGS, NULL},
    {"_save_file", (PyCFunction)memory_save_file, METH_O, NULL},
    {"_restore", (PyCFunction)memory_restore, METH_VARARGS, NULL},
    {"_merge", (PyCFunction)memory_merge, METH_VARARGS, NULL},
    {0},
};

static PyGetSetDef memory_getters[] = {
    {"ids", (getter)get_ids, NULL, "int64 array: the id of the sample in each slot", NULL},
    {"arrivals", (getter)get_arrivals, NULL, "int64 array: which sample of the stream, from 0, is in each slot", NULL},
    {"arrived", (getter)get_arrived, NULL, "how many samples were offered so far, kept or not", NULL},
    {"capacity", (getter)get_capacity, NULL, "how many samples it keeps at most", NULL},
    {"policy", (getter)get_policy, NULL, "the name of the policy, or the object that was given as policy", NULL},
    {"seed", (getter)get_seed, NULL, "what every random choice follows from", NULL},
    {"min", (getter)get_min, NULL, "how many samples of a class are kept at least, if set_minimum says nothing else", NULL},
    {"shard", (getter)get_shard, NULL, "which part of a stream this memory samples, for `merge`", NULL},
    {"_last_change", (getter)get_last_change, NULL, NULL, NULL},
    {"_changes", (getter)get_changes, NULL, NULL, NULL},
    {"_draws", (getter)get_draws, NULL, NULL, NULL},
    {"rho", (getter)get_rho, NULL, "the power of the target: p_i ~ w_i n_i^rho", NULL},
    {"tolerance", (getter)get_tolerance, NULL, "how much worse than the best a deletion may be to tie with it", NULL},
    {"tie", (getter)get_tie, NULL, "which sample goes when several are equally good", NULL},
    {"distance_name", (getter)get_distance_name, NULL, "the distance that is minimised and reported", NULL},
    {"names", (getter)get_names, NULL, "the labels that are strings, by number; None when labels are numbers", NULL},
    {0},
};

static PyType_Slot memory_slots[] = {
    {Py_tp_new, (void *)memory_new},       {Py_tp_dealloc, (void *)memory_dealloc},   {Py_tp_traverse, (void *)memory_traverse},
    {Py_tp_clear, (void *)memory_clear},   {Py_tp_methods, memory_methods},           {Py_tp_getset, memory_getters},
    {Py_sq_length, (void *)memory_length}, {Py_sq_contains, (void *)memory_contains}, {0, NULL},
};

static PyType_Spec memory_spec = {
    .name = "ocdm._ocdm.Memory",
    .basicsize = sizeof(memory_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = memory_slots,
};

bool ocdm__add_memory_type(PyObject *module)
{
    PyTypeObject *type = ocdm__add_type(module, &memory_spec);
    return type != NULL;
}
