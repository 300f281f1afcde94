/* COCO files from texts, read and shown as text. It needs a scratch folder to be entered. */
#ifndef OCDM_TESTS_COCO_TEXT_H
#define OCDM_TESTS_COCO_TEXT_H

#include <stdio.h>
#include <string.h>

#include "../scratch_folder.h"
#include "stream/readers/readers.h"

static const char *const coco_names[] = {"a.json", "b.json", "c.json"};

/* What a reading gave. */
typedef struct coco_answer {
    ocdm_status status;
    ocdm_error error;
    ocdm__reading reading;
    char shown[1 << 16]; /* a line for each sample: id, path or -, labels with commas between */
    char classes[4096];  /* with commas between */
} coco_answer;

static inline void show_text(char *out, size_t room, const ocdm__label_table *table, uint32_t number, const char *after)
{
    size_t used = strlen(out), length;
    const char *text = ocdm__label_table_text(table, number, &length);
    snprintf(out + used, room - used, "%.*s%s", (int)length, text, after);
}

static inline void show_set(const ocdm__labelled_set *set, coco_answer *answer)
{
    for (uint32_t i = 0; i < set->classes.count; i++)
        show_text(answer->classes, sizeof answer->classes, &set->classes, i, i + 1 < set->classes.count ? "," : "");
    for (uint32_t i = 0; i < set->count; i++) {
        show_text(answer->shown, sizeof answer->shown, &set->ids, i, " ");
        if (set->path_numbers[i] == UINT32_MAX)
            strcat(answer->shown, "- ");
        else
            show_text(answer->shown, sizeof answer->shown, &set->paths, set->path_numbers[i], " ");
        for (uint64_t j = set->label_starts[i]; j < set->label_starts[i + 1]; j++)
            show_text(answer->shown, sizeof answer->shown, &set->classes, set->labels[j],
                      j + 1 < set->label_starts[i + 1] ? "," : "");
        strcat(answer->shown, "\n");
    }
}

/* Reads texts as the files a.json, b.json, ... */
static inline void read_coco_bytes(const char *const *texts, const size_t *sizes, size_t count, coco_answer *answer)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(write_whole(coco_names[i], (const unsigned char *)texts[i], sizes[i]), 0);
    ocdm__labelled_set set = {.count = 0};
    answer->shown[0] = answer->classes[0] = '\0';
    answer->error = (ocdm_error){.message = "", .hint = ""};
    answer->status = ocdm__coco_read(&set, coco_names, NULL, count, &answer->reading, &answer->error);
    if (answer->status == OCDM_OK)
        show_set(&set, answer);
    else
        assert_true(set.count == 0 && set.classes.count == 0 && set.labels == NULL);
    for (size_t i = 0; i < set.count; i++)
        assert_true(set.parts[i] == OCDM__NO_PART && set.tasks[i] == OCDM__NO_TASK && set.rows[i] == OCDM__NO_ROW);
    ocdm__labelled_set_clear(&set);
}

static inline void read_coco(const char *const *texts, size_t count, bool skip_bad, coco_answer *answer)
{
    size_t sizes[3] = {0};
    for (size_t i = 0; i < count; i++)
        sizes[i] = strlen(texts[i]);
    answer->reading = (ocdm__reading){.skip_bad = skip_bad};
    read_coco_bytes(texts, sizes, count, answer);
}

#endif
