/* `ocdm report`: writes a page about runs, and its figures as files. */
#include "cli/console.h"
#include "cli/verbs.h"
#include "report/events/events.h"
#include "report/figures/figure.h"
#include "report/page/page.h"
#include "report/runs/log.h"
#include "stream/images/image.h"

/* ---- pictures ----------------------------------------------------------------------------------------------------------- */

/* The stream file of the current study, opened when its first image is requested. */
struct picture_state {
    const char *given; /* --stream, or NULL */
    const ocdm__study *study;
    ocdm__stream_pictures *pictures; /* NULL: it was not found, or has no images */
};

/* Where the run read it, otherwise next to the run's folder or in it. NULL if it is in none of these places. */
static ocdm__stream_pictures *find_stream(const char *given, const ocdm__run_record *run)
{
    static const char *const places[] = {"", "..", "../.."};
    const char *file = given != NULL ? given : ocdm__json_text(ocdm__json_find(run->summary.root, "stream.file"), NULL);
    ocdm__stream_pictures *found = NULL;
    ocdm_status status = file != NULL ? ocdm__stream_pictures_open(&found, file, NULL) : OCDM_OK;
    for (size_t i = 0; status != OCDM_OK && i < sizeof places / sizeof places[0] && given == NULL && file[0] != '/'; i++) {
        const ocdm__path folder = ocdm__path_in(run->folder, places[i]);
        status = ocdm__stream_pictures_open(&found, ocdm__path_in(folder.text, file).text, NULL);
    }
    return status == OCDM_OK ? found : NULL;
}

static bool picture(void *pointer, const ocdm__study *study, const char *id, uint8_t *rgb)
{
    struct picture_state *state = pointer;
    if (state->study != study) {
        ocdm__stream_pictures_close(state->pictures);
        state->pictures = find_stream(state->given, study->groups[0].runs[0]);
        state->study = study;
    }
    return state->pictures != NULL && ocdm__stream_picture(state->pictures, id, OCDM__PICTURE_SIDE, rgb);
}

/* ---- events for TensorBoard ---------------------------------------------------------------------------------------------- */

static bool event_picture(void *state, const char *id, uint8_t *rgb)
{
    return ocdm__stream_picture(state, id, OCDM__EVENT_PICTURE, rgb);
}

/* Of every run that has a log; one that is running may be writing its own. */
static ocdm_status write_all_events(const ocdm__run_list *runs, const char *stream, ocdm_error *error)
{
    for (size_t i = 0; i < runs->count; i++) {
        const ocdm__run_record *run = &runs->runs[i];
        if (run->state != OCDM__RUN_WHOLE && run->state != OCDM__RUN_HALF)
            continue;
        if (ocdm__run_is_locked(run->folder)) {
            fprintf(stderr, "note: %s: the run is not finished; its events are left alone\n",
                    ocdm__show_path(run->folder).text);
            continue;
        }
        ocdm__event_file *file = NULL;
        ocdm__stream_pictures *pictures = run->state == OCDM__RUN_WHOLE ? find_stream(stream, run) : NULL;
        ocdm_status status = ocdm__event_file_open(&file, run->folder, error);
        if (status == OCDM_OK && pictures != NULL)
            status =
                ocdm__event_file_pictures(file, &(ocdm__event_pictures){.picture = event_picture, .state = pictures}, error);
        ocdm__event_file_close(file);
        ocdm__stream_pictures_close(pictures);
        OCDM_TRY(status);
        printf("%s/%s\n", ocdm__show_path(run->folder).text, OCDM__EVENTS_FILE);
    }
    return OCDM_OK;
}

/* ---- the verb ----------------------------------------------------------------------------------------------------------- */

static ocdm_status write_all(const ocdm__arguments *arguments, const ocdm__run_list *runs, ocdm_error *error)
{
    bool events = ocdm__argument_given(arguments, "tensorboard");
    size_t found = 0;
    while (found < runs->count && runs->runs[found].state == OCDM__RUN_MISSING)
        found++;
    if (found == runs->count) /* nothing to show */
        return ocdm__refuse_folder(runs->runs[0].folder, runs->runs[0].why.message, error);
    if (events)
        OCDM_TRY(write_all_events(runs, ocdm__argument_text(arguments, "stream"), error));
    if (!events || ocdm__argument_given(arguments, "output")) {
        ocdm__study_list studies = {.studies = NULL};
        struct picture_state state = {.given = ocdm__argument_text(arguments, "stream")};
        const char *path = ocdm__argument_text(arguments, "output"), *figures = ocdm__argument_text(arguments, "figures");
        ocdm__page page = {.title = ocdm__argument_text(arguments, "title"),
                           .runs = runs,
                           .studies = &studies,
                           .pictures = {.picture = picture, .state = &state}};
        ocdm_status status = ocdm__studies_make(&studies, runs, error);
        for (size_t i = 0; status == OCDM_OK && figures != NULL && i < studies.count; i++) {
            char prefix[32] = "";
            if (studies.count > 1)
                snprintf(prefix, sizeof prefix, "stream-%zu-", i + 1);
            status = ocdm__figures_write(&studies.studies[i], figures, prefix, error);
        }
        OCDM_THEN(status, ocdm__page_write(&page, path, error));
        if (status == OCDM_OK) {
            size_t whole = 0;
            for (size_t i = 0; i < runs->count; i++)
                whole += runs->runs[i].state == OCDM__RUN_WHOLE;
            printf("%s: %zu run%s\n", ocdm__show_path(path).text, whole, whole == 1 ? "" : "s");
        }
        ocdm__stream_pictures_close(state.pictures);
        ocdm__studies_clear(&studies);
        OCDM_TRY(status);
    }
    /* One line for each run that is unfinished, damaged or missing. */
    for (size_t i = 0; i < runs->count; i++) {
        const ocdm__run_record *run = &runs->runs[i];
        ocdm_error note; /* one line, whatever the folder is called */
        ocdm__fail(&note, OCDM_BAD_FILE, "", "%s: %s", run->folder, run->why.message);
        if (run->state != OCDM__RUN_WHOLE)
            ocdm__print_note(note.message);
    }
    return OCDM_OK;
}

static ocdm_status run(ocdm__arguments *arguments, ocdm_error *error)
{
    ocdm__run_list runs = {.runs = NULL};
    if (arguments->operand_count == 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "for example: ocdm report runs -o report.html",
                          "ocdm report needs a run folder");
    ocdm_status status = ocdm__runs_read(&runs, arguments->operands, arguments->operand_count, error);
    OCDM_THEN(status, write_all(arguments, &runs, error));
    ocdm__runs_clear(&runs);
    return status;
}

static const ocdm__flag flags[] = {
    OCDM__VALUE('o', "output", "FILE", "report.html", "write the page to FILE"),
    OCDM__VALUE(0, "figures", "DIR", NULL, "also write every figure to DIR, as SVG and CSV"),
    OCDM__VALUE(0, "title", "TEXT", NULL, "the page's title"),
    OCDM__VALUE(0, "stream", "FILE", NULL, "the stream file with the images of the samples"),
    OCDM__SWITCH(0, "tensorboard", "write events for TensorBoard into the folder of each run"),
    {.name = NULL},
};

const ocdm__verb ocdm__verb_report = {
    .name = "report",
    .summary = "write a page about runs, with figures",
    .operands = "DIR...",
    .operand_limit = 10000,
    .flags = flags,
    .run = run,
};
