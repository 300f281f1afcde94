/* The picture of a memory: the classes against their target, by the drawer of the report. */
#include "module.h"

#include <math.h>

#include "base/output.h"
#include "report/figures/balance.h"

/* The classes, whose names the list keeps, the most frequent first: a third of them in each group. False with the exception. */
static bool fill_classes(PyObject *names, ocdm__picture_class *classes)
{
    static const char *const groups[] = {"majority", "moderate", "minority"};
    for (Py_ssize_t i = 0; i < PyList_Size(names); i++) {
        classes[i] = (ocdm__picture_class){.name = PyUnicode_AsUTF8AndSize(PyList_GetItem(names, i), NULL),
                                           .group = groups[3 * i / PyList_Size(names)],
                                           .task = NAN};
        if (classes[i].name == NULL)
            return false;
    }
    return true;
}

static PyObject *draw(const ocdm__balance_picture *picture, const char *path)
{
    ocdm_error error = {0};
    ocdm__output output = {.buffer = NULL};
    PyObject *text = NULL;
    ocdm_status status = ocdm__output_open_memory(&output, "a picture", &error);
    if (status == OCDM_OK)
        status = ocdm__balance_picture_put(picture, &output, &error);
    if (status == OCDM_OK)
        status = ocdm__output_check(&output, &error);
    if (status == OCDM_OK && path != NULL)
        status = ocdm__balance_picture_write(picture, path, &error);
    if (status == OCDM_OK)
        text = PyUnicode_DecodeUTF8(output.buffer, (Py_ssize_t)output.used, "replace");
    else
        ocdm__raise(&error);
    ocdm__output_abandon(&output);
    return text;
}

/* draw_classes(policy, distance, distance_seen, caption, names, kept, targets or None, path or None): the SVG. `kept` has
 * 32-bit integers, `targets` doubles. */
PyObject *ocdm__draw_classes(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *names, *targets_object, *text = NULL;
    const char *caption, *path;
    Py_buffer kept, targets = {.obj = NULL};
    ocdm__picture_panel panel = {0};
    if (!PyArg_ParseTuple(args, "sddsO!y*Oz", &panel.policy, &panel.distance, &panel.distance_seen, &caption, &PyList_Type,
                          &names, &kept, &targets_object, &path))
        return NULL;
    size_t count = (size_t)PyList_Size(names);
    ocdm__picture_class *classes = PyMem_Calloc(count + 1, sizeof *classes);
    bool fine = classes != NULL || PyErr_NoMemory() != NULL;
    if (fine && targets_object != Py_None)
        fine = PyObject_GetBuffer(targets_object, &targets, PyBUF_C_CONTIGUOUS) == 0;
    if (fine && ((size_t)kept.len != count * sizeof(uint32_t) ||
                 (targets.obj != NULL && (size_t)targets.len != count * sizeof(double)) || count == 0))
        fine = PyErr_Format(PyExc_ValueError, "a picture needs a name, a count and a target for each of its classes") != NULL;
    if (fine && fill_classes(names, classes)) {
        panel.kept = kept.buf;
        panel.targets = targets.obj != NULL ? targets.buf : NULL;
        const ocdm__balance_picture picture = {
            .classes = classes, .class_count = count, .panels = &panel, .panel_count = 1, .caption = caption};
        text = draw(&picture, path);
    }
    PyMem_Free(classes);
    PyBuffer_Release(&kept);
    PyBuffer_Release(&targets);
    return text;
}
