/* Classes as the bars of panels. */
#include "report/figures/classes.h"

#include <string.h>

#include "base/allocate.h"
#include "base/error.h"

/* The most bars that a panel has room for. */
#define MOST_BARS 160

static size_t merged_classes(const ocdm__class_list *list)
{
    return list->count <= MOST_BARS ? 1 : (list->count + MOST_BARS - 1) / MOST_BARS;
}

static unsigned char kind_of(const ocdm__study_class *class)
{
    static const char *const groups[] = {"majority", "moderate", "minority"};
    for (unsigned char i = 0; i < 3; i++)
        if (strcmp(class->group, groups[i]) == 0)
            return i;
    return OCDM__BAR_MIXED;
}

static void name_bars(const ocdm__class_list *list, ocdm__panels *panels)
{
    size_t merged = merged_classes(list);
    for (size_t c = 0; c < list->count; c++) {
        unsigned char kind = kind_of(&list->classes[c]);
        size_t bar = c / merged;
        panels->kinds[bar] = c % merged == 0 || panels->kinds[bar] == kind ? kind : OCDM__BAR_MIXED;
        panels->names[bar] = c % merged == 0 ? list->classes[c].name : panels->names[bar];
    }
}

/* Where the classes of the next task begin. */
static void find_sections(const ocdm__class_list *list, ocdm__panels *panels)
{
    for (size_t c = 0; c < list->count; c++) {
        size_t turn = list->classes[c].turn;
        if (c > 0 && turn == list->classes[c - 1].turn)
            continue;
        ocdm__panel_section *section = &panels->sections[panels->section_count++];
        section->from = (double)c / (double)merged_classes(list);
        if (turn < list->order.count)
            ocdm__task_text(list->order.values[turn], section->name, sizeof section->name);
    }
}

ocdm_status ocdm__class_panels_begin(ocdm__panels *panels, const ocdm__class_list *list, ocdm_error *error)
{
    bool failed = false;
    size_t merged = merged_classes(list);
    panels->x_what = "classes, in the order of the stream";
    panels->has_groups = true;
    panels->bar_count = (list->count + merged - 1) / merged;
    panels->kinds = ocdm__grown(NULL, panels->bar_count, sizeof *panels->kinds, &failed);
    panels->names = ocdm__grown(NULL, panels->bar_count, sizeof *panels->names, &failed);
    panels->sections = ocdm__grown(NULL, list->count, sizeof *panels->sections, &failed);
    if (failed)
        return ocdm__fail_memory(error, "a figure");
    memset(panels->sections, 0, list->count * sizeof *panels->sections);
    name_bars(list, panels);
    find_sections(list, panels);
    return OCDM_OK;
}

void ocdm__class_panels_fill(const ocdm__class_list *list, double *bars, ocdm__class_number *number, const void *state)
{
    size_t merged = merged_classes(list);
    for (size_t first = 0, bar = 0; first < list->count; first += merged, bar++) {
        size_t count = list->count - first < merged ? list->count - first : merged;
        bars[bar] = 0;
        for (size_t c = first; c < first + count; c++)
            bars[bar] += number(state, &list->classes[c]) / (double)count;
    }
}
