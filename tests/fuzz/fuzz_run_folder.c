/*
 * Any bytes as the files of run folders, as a report finds them: up to five pieces, which bytes 0x1E separate, are the summary
 * and the memory of a run, the summary of another, the log of a third, and the list of runs of a comparison. Whatever they say,
 * there is a page, figures, event files and views of the logs.
 */
#define _GNU_SOURCE

#include <stdint.h>

#include "../nested_files.h"

#include "report/events/events.h"
#include "report/figures/figure.h"
#include "report/page/page.h"
#include "report/runs/groups.h"
#include "report/watch/watch.h"

static const char *const files[] = {"r/ocdm-s0/summary.json", "r/ocdm-s0/memory.jsonl", "r/rs-s0/summary.json",
                                    "r/prs-s1/run.jsonl", "r/runs.json"};

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void leave(void)
{
    remove_tree(scratch_folder);
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count, (void)arguments;
    require(enter_folder(NULL) == 0);
    return atexit(leave);
}

/* ---- mutation ----------------------------------------------------------------------------------------------------------- */

/* Puts another value in the place of the JSON value without parts that begins after data[at]. Returns the new size. */
static size_t put_value(uint8_t *data, size_t size, size_t room, size_t at, const char *value)
{
    size_t begin = at + 1, end = begin, length = strlen(value);
    while (end < size && memchr(",]}:\n", data[end], 5) == NULL)
        end++;
    if (size - (end - begin) + length > room)
        return size;
    memmove(data + begin + length, data + end, size - end);
    memcpy(data + begin, value, length);
    return size - (end - begin) + length;
}

/* Bytes at random seldom leave valid JSON with an unusual value, so every second mutation is one of values. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    static const char *const values[] = {"-1",     "0",          "1",     "2",       "1e17", "1e308",
                                         "-1e308", "4294967296", "0.5",   "1e-9",    "null", "true",
                                         "[]",     "{}",         "\"x\"", "[1,2,3]", "\"\"", "9007199254740993"};
    if (seed % 2 == 0 || size == 0)
        return LLVMFuzzerMutate(data, size, room);
    size_t start = seed / 64 % size;
    for (size_t i = 0; i < size; i++) {
        size_t at = (start + i) % size;
        if (data[at] == ':' || data[at] == ',' || data[at] == '[')
            return put_value(data, size, room, at, values[seed / 2 % (sizeof values / sizeof *values)]);
    }
    return LLVMFuzzerMutate(data, size, room);
}

/* ---- the report --------------------------------------------------------------------------------------------------------- */

static bool picture(void *state, const ocdm__study *study, const char *id, uint8_t *rgb)
{
    (void)state, (void)study;
    memset(rgb, id[0], (size_t)3 * OCDM__PICTURE_SIDE * OCDM__PICTURE_SIDE);
    return id[0] % 2 == 1;
}

static void check_runs(const ocdm__run_list *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        const ocdm__run_record *run = &runs->runs[i];
        require(run->method != NULL && run->name != NULL);
        require(run->state == OCDM__RUN_WHOLE ? run->summary.root != NULL : run->why.message[0] != '\0');
    }
}

static void make_report(void)
{
    char *folder = "r";
    ocdm__run_list runs = {.count = 0};
    ocdm__study_list studies = {.count = 0};
    require(ocdm__runs_read(&runs, &folder, 1, NULL) == OCDM_OK);
    check_runs(&runs);
    require(ocdm__studies_make(&studies, &runs, NULL) == OCDM_OK);
    for (size_t i = 0; i < studies.count; i++)
        require(ocdm__figures_write(&studies.studies[i], "figures", "", NULL) == OCDM_OK);
    const ocdm__page page = {.runs = &runs, .studies = &studies, .pictures = {.picture = picture}};
    require(ocdm__page_write(&page, "page.html", NULL) == OCDM_OK);
    ocdm__studies_clear(&studies);
    ocdm__runs_clear(&runs);
}

/* ---- logs --------------------------------------------------------------------------------------------------------------- */

static void draw(const ocdm__watch *watch, const ocdm__watched_runs *runs)
{
    ocdm__output out;
    char line[OCDM__RUNS_LINE];
    require(ocdm__output_open(&out, "view", NULL) == OCDM_OK);
    for (unsigned width = 20; width < 200; width += 60) {
        const ocdm__watch_look look = {.width = width, .utf8 = width == 80};
        ocdm__watch_draw(watch, &out, &look);
        if (runs != NULL)
            ocdm__watched_runs_draw(runs, &out, &look);
    }
    if (runs != NULL)
        ocdm__watched_runs_line(runs, line);
    ocdm__output_abandon(&out);
}

static void watch_lines(const char *text, size_t size)
{
    static ocdm__watch watch;
    ocdm__watched_runs *runs = NULL;
    ocdm__watch_forget(&watch);
    for (const char *end = text + size; text < end;) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t length = (size_t)((newline != NULL ? newline : end) - text);
        ocdm__watch_line(&watch, text, length);
        text += newline != NULL ? length + 1 : length;
    }
    if (ocdm__watched_runs_open(&runs, "r", NULL) == OCDM_OK)
        ocdm__watched_runs_look(runs);
    draw(&watch, runs);
    ocdm__watched_runs_close(runs);
}

/* As TensorBoard's files, which are not written for a folder without a log. */
static void write_events(const char *folder)
{
    ocdm__event_file *file = NULL;
    ocdm_error error = {.status = OCDM_OK};
    ocdm_status status = ocdm__event_file_open(&file, folder, &error);
    require(status == OCDM_OK || error.message[0] != '\0');
    ocdm__event_file_close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 16384)
        return 0;
    require(put_pieces(files, sizeof files / sizeof *files, data, size) == 0);
    make_report();
    size_t length;
    unsigned char *log = read_whole("r/prs-s1/run.jsonl", &length);
    if (log != NULL) {
        watch_lines((const char *)log, length);
        write_events("r/prs-s1");
    }
    free(log);
    require(clear_tree(NULL) == 0);
    return 0;
}
