/*
 * The tables and figures of the paper, and the paper's numbers, checked one by one against its LaTeX source. To add a table or
 * a figure, add a row and its numbers; a new kind of them has a row of functions in report/paper/paper.c.
 */
#include "experiment/paper/paper.h"

#include "metrics/metrics.h"

/* ---- items -------------------------------------------------------------------------------------------------------------- */

const ocdm__paper_need ocdm__paper_needs[] = {
    [OCDM__PAPER_AMLR] = {.alike = true},
    [OCDM__PAPER_METRICS] = {.runs = true, .alike = true},
    [OCDM__PAPER_PROCESS] = {.runs = false},
    [OCDM__PAPER_STREAM] = {.runs = false},
    [OCDM__PAPER_KEPT] = {.memories = true},
    [OCDM__PAPER_CURVES] = {.runs = true, .memories = true, .curves = true, .alike = true},
    [OCDM__PAPER_RHO] = {.runs = true, .memories = true, .alike = true},
    [OCDM__PAPER_DISTANCE] = {.memories = true, .curves = true},
    [OCDM__PAPER_CLAIMS] = {.memories = true, .alike = true},
};

/* clang-format off */
/* Lists of streams and methods. */
#define BOTH {"mscoco", "nuswide"}
#define MAIN_METHODS {"multitask", "finetune", "rs", "gss", "cbes", "prs", "onlyone", "ocdm"}
#define RESERVOIRS {"rs", "prs", "ocdm"}
#define STRATEGIES {"max", "random", "ocdm"}
#define NO_METHODS {NULL}

static const ocdm__paper_item items[] = {
    {"amlr", "Table 1: average multi-label ratio of each task", OCDM__PAPER_AMLR,
     {"cocoseq", "mscoco", "nuswideseq", "nuswide"}, NO_METHODS, "1000", "0", false},
    {"mscoco", "Table 2: all methods on MSCOCO", OCDM__PAPER_METRICS, {"mscoco"}, MAIN_METHODS, "1000", "0", false},
    {"nuswide", "Table 3: all methods on NUS-WIDE", OCDM__PAPER_METRICS, {"nuswide"}, MAIN_METHODS, "1000", "0", false},
    {"seq", "Table 4: COCOseq and NUS-WIDEseq", OCDM__PAPER_METRICS,
     {"cocoseq", "nuswideseq"}, {"onlyone", "rs", "cbes", "prs", "ocdm"}, "1000", "0", false},
    {"memory-size", "Table 5: memories of 300 and 500", OCDM__PAPER_METRICS,
     BOTH, {"rs", "gss", "cbes", "prs", "ocdm"}, "300,500", "0", false},
    {"strategies", "Table 6: max, random and the greedy choice", OCDM__PAPER_METRICS, BOTH, STRATEGIES, "1000", "0", false},
    {"orders", "Table 7: other orders of tasks", OCDM__PAPER_METRICS, BOTH, RESERVOIRS, "1000", "0", true},
    {"process", "Figure 1: one step of OCDM", OCDM__PAPER_PROCESS, {"mscoco"}, {"ocdm"}, "1000", "0", false},
    {"stream-mscoco", "Figure 2: classes of the tasks of MSCOCO", OCDM__PAPER_STREAM, {"mscoco"}, NO_METHODS, "1000", "0", false},
    {"stream-nuswide", "Figure 3: classes of the tasks of NUS-WIDE", OCDM__PAPER_STREAM, {"nuswide"}, NO_METHODS, "1000", "0", false},
    {"memory", "Figure 4: classes in memory after training", OCDM__PAPER_KEPT,
     BOTH, {"rs", "cbes", "prs", "ocdm"}, "1000", "0", false},
    {"memory-onlyone", "Figure 5: classes in memory with onlyone", OCDM__PAPER_KEPT,
     {"mscoco", "nuswide", "cocoseq", "nuswideseq"}, {"onlyone"}, "1000", "0", false},
    {"curves", "Figure 6: mAP after each task, distance step by step", OCDM__PAPER_CURVES, BOTH, RESERVOIRS, "1000", "0", false},
    {"rho", "Figure 7: mAP and kept samples of each group against rho", OCDM__PAPER_RHO,
     BOTH, {"ocdm"}, "1000", "0,0.2,0.4,0.6,0.8", false},
    {"strategies-memory", "Figure 8: classes in memory with max, random, OCDM", OCDM__PAPER_KEPT,
     BOTH, STRATEGIES, "1000", "0", false},
    {"orders-memory", "Figure 9: classes in memory with other orders", OCDM__PAPER_KEPT, BOTH, {"ocdm"}, "1000", "0", true},
    {"orders-distance", "Figure 10: distance step by step with other orders", OCDM__PAPER_DISTANCE,
     BOTH, RESERVOIRS, "1000", "0", true},
    {"claims", "what the text says of the classes in memory and of rho", OCDM__PAPER_CLAIMS, BOTH, RESERVOIRS, "1000", "0", false},
};

/* The methods of the claims that need a network. */
static const ocdm__paper_item learnt_claims = {
    "claims", "what the text says of gss", OCDM__PAPER_CLAIMS, BOTH, {"gss"}, "1000", "0", false};
/* clang-format on */

const ocdm__paper_item *ocdm__paper_item_at(size_t index)
{
    return index < sizeof items / sizeof *items ? &items[index] : NULL;
}

const ocdm__paper_item *ocdm__paper_item_find(const char *name)
{
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        if (strcmp(items[i].name, name) == 0)
            return &items[i];
    return NULL;
}

const ocdm__paper_item *ocdm__paper_runs_of(const ocdm__paper_item *item)
{
    if (item->kind == OCDM__PAPER_CLAIMS)
        return &learnt_claims;
    return ocdm__paper_needs[item->kind].runs ? item : NULL;
}

/* ---- streams ------------------------------------------------------------------------------------------------------------ */

static const ocdm__paper_stream streams[OCDM__PAPER_STREAMS] = {
    {"mscoco", 4, 44, NULL, "3,0,1,2;2,1,3,0;0,2,3,1"},
    {"nuswide", 5, 44, NULL, "3,0,1,4,2;2,1,3,4,0;0,2,4,3,1"},
    {"cocoseq", 4, 70, "0,3,1,2", NULL},
    {"nuswideseq", 6, 49, "3,1,0,5,4,2", NULL},
};

const ocdm__paper_stream *ocdm__paper_stream_find(const char *name, size_t length)
{
    for (size_t i = 0; i < OCDM__PAPER_STREAMS; i++)
        if (strlen(streams[i].name) == length && strncmp(streams[i].name, name, length) == 0)
            return &streams[i];
    return NULL;
}

/* ---- numbers ------------------------------------------------------------------------------------------------------------ */

/* clang-format off */
#define NONE NAN
#define GROUP(name) {name, OCDM__CF1_NAME}, {name, OCDM__OF1_NAME}, {name, OCDM__MAP_NAME}
#define TIME {"run", "seconds_per_1000_steps"}

/* The layouts of the tables. */
enum columns { AMLR, FULL, SEQ, THREE, STRATEGY, ORDER };

static const struct {
    ocdm__paper_column columns[OCDM__PAPER_COLUMNS];
    size_t count;
    int decimals;
} layouts[] = {
    [AMLR] = {{{"total", "AMLR"}}, 1, 2},
    [FULL] = {{GROUP("majority"), GROUP("moderate"), GROUP("minority"), GROUP("total"), TIME}, 13, 1},
    [SEQ] = {{{"majority", OCDM__MAP_NAME}, {"moderate", OCDM__MAP_NAME}, {"minority", OCDM__MAP_NAME}, {"total", OCDM__MAP_NAME},
              TIME}, 5, 2},
    [THREE] = {{GROUP("total")}, 3, 1},
    [STRATEGY] = {{GROUP("total"), TIME}, 4, 1},
    [ORDER] = {{{"total", OCDM__MAP_NAME}}, 1, 1},
};

static const struct {
    enum columns columns;
    const char *table, *stream, *setting, *method;
    double values[OCDM__PAPER_COLUMNS];
    double deviations[4]; /* of strategies and orders only */
} lines[] = {
    /* Table 1: average multi-label ratio in percent */
    {AMLR, "amlr", "cocoseq", "task1", "", {58.60}, {0}},
    {AMLR, "amlr", "cocoseq", "task2", "", {55.33}, {0}},
    {AMLR, "amlr", "cocoseq", "task3", "", {15.42}, {0}},
    {AMLR, "amlr", "cocoseq", "task4", "", {23.46}, {0}},
    {AMLR, "amlr", "cocoseq", "total", "", {42.1}, {0}},
    {AMLR, "amlr", "mscoco", "task1", "", {95.53}, {0}},
    {AMLR, "amlr", "mscoco", "task2", "", {89.12}, {0}},
    {AMLR, "amlr", "mscoco", "task3", "", {84.33}, {0}},
    {AMLR, "amlr", "mscoco", "task4", "", {64.54}, {0}},
    {AMLR, "amlr", "mscoco", "total", "", {85.6}, {0}},
    {AMLR, "amlr", "nuswideseq", "task1", "", {49.33}, {0}},
    {AMLR, "amlr", "nuswideseq", "task2", "", {71.06}, {0}},
    {AMLR, "amlr", "nuswideseq", "task3", "", {45.95}, {0}},
    {AMLR, "amlr", "nuswideseq", "task4", "", {12.44}, {0}},
    {AMLR, "amlr", "nuswideseq", "task5", "", {6.19}, {0}},
    {AMLR, "amlr", "nuswideseq", "task6", "", {52.78}, {0}},
    {AMLR, "amlr", "nuswideseq", "total", "", {38.8}, {0}},
    {AMLR, "amlr", "nuswide", "task1", "", {98.08}, {0}},
    {AMLR, "amlr", "nuswide", "task2", "", {99.15}, {0}},
    {AMLR, "amlr", "nuswide", "task3", "", {88.73}, {0}},
    {AMLR, "amlr", "nuswide", "task4", "", {95.14}, {0}},
    {AMLR, "amlr", "nuswide", "task5", "", {83.71}, {0}},
    {AMLR, "amlr", "nuswide", "total", "", {96.4}, {0}},
    /* Table 2 */
    {FULL, "mscoco", "mscoco", "", "multitask", {64.1, 45.0, 68.5, 56.7, 53.1, 57.4, 32.7, 30.6, 49.3, 58.7, 48.6, 59.5, NONE}, {0}},
    {FULL, "mscoco", "mscoco", "", "finetune", {4.1, 4.5, 30.6, 12.8, 20.2, 22.8, 8.5, 14.3, 12.5, 13.6, 16.9, 23.8, NONE}, {0}},
    {FULL, "mscoco", "mscoco", "", "rs", {52.1, 38.0, 52.5, 26.2, 25.8, 34.6, 8.3, 10.7, 12.1, 31.7, 29.0, 36.9, 656.0}, {0}},
    {FULL, "mscoco", "mscoco", "", "gss", {44.8, 36.7, 50.8, 27.6, 26.3, 33.5, 7.1, 11.9, 13.7, 30.4, 28.0, 36.0, 6040.7}, {0}},
    {FULL, "mscoco", "mscoco", "", "cbes", {54.8, 55.5, 60.4, 27.7, 29.1, 35.2, 4.7, 8.7, 15.1, 32.6, 34.7, 39.8, 689.0}, {0}},
    {FULL, "mscoco", "mscoco", "", "prs", {48.0, 47.8, 51.0, 39.7, 35.4, 40.3, 8.1, 8.8, 21.7, 38.8, 36.5, 41.1, 1215.0}, {0}},
    {FULL, "mscoco", "mscoco", "", "onlyone", {43.6, 47.5, 51.9, 22.1, 26.4, 29.7, 0.0, 0.0, 12.5, 26.3, 29.6, 33.8, NONE}, {0}},
    {FULL, "mscoco", "mscoco", "", "ocdm", {47.6, 47.3, 51.6, 40.6, 37.8, 42.3, 21.0, 20.9, 26.22, 40.5, 38.9, 43.0, 673.0}, {0}},
    /* Table 3 */
    {FULL, "nuswide", "nuswide", "", "multitask", {31.3, 19.2, 21.4, 32.4, 31.8, 29.9, 9.3, 9.8, 19.7, 31.4, 23.2, 25.8, NONE}, {0}},
    {FULL, "nuswide", "nuswide", "", "finetune", {2.7, 5.1, 8.4, 2.1, 6.2, 8.9, 0.0, 0.0, 6.9, 2.1, 5.1, 8.4, NONE}, {0}},
    {FULL, "nuswide", "nuswide", "", "rs", {22.8, 15.4, 16.2, 11.9, 12.4, 18.2, 1.6, 1.7, 9.1, 17.4, 13.3, 16.2, 578.1}, {0}},
    {FULL, "nuswide", "nuswide", "", "gss", {21.4, 16.4, 16.0, 11.6, 12.4, 18.5, 0.2, 0.2, 9.1, 16.7, 13.8, 16.2, 5808.1}, {0}},
    {FULL, "nuswide", "nuswide", "", "cbes", {26.2, 20.3, 18.8, 17.0, 16.5, 21.5, 1.6, 1.7, 12.4, 19.9, 17.2, 19.3, 592.7}, {0}},
    {FULL, "nuswide", "nuswide", "", "prs", {22.5, 19.0, 17.0, 23.8, 23.1, 22.3, 16.4, 17.5, 17.7, 23.6, 20.7, 20.0, 1175.2}, {0}},
    {FULL, "nuswide", "nuswide", "", "onlyone", {17.4, 16.3, 15.4, 4.7, 8.3, 12.6, 0.0, 0.0, 6.2, 7.7, 11.3, 12.4, NONE}, {0}},
    {FULL, "nuswide", "nuswide", "", "ocdm", {20.2, 18.8, 17.0, 29.2, 27.5, 25.6, 20.2, 20.5, 20.1, 25.8, 23.3, 22.2, 580.8}, {0}},
    /* Table 4 */
    {SEQ, "seq", "cocoseq", "", "onlyone", {69.97, 50.28, 26.88, 50.66, NONE}, {0}},
    {SEQ, "seq", "cocoseq", "", "rs", {70.18, 46.74, 22.40, 47.50, 594.9}, {0}},
    {SEQ, "seq", "cocoseq", "", "cbes", {66.73, 44.46, 17.37, 44.75, 596.2}, {0}},
    {SEQ, "seq", "cocoseq", "", "prs", {68.59, 50.52, 31.30, 51.32, 1128.6}, {0}},
    {SEQ, "seq", "cocoseq", "", "ocdm", {70.87, 51.67, 31.58, 52.59, 602.0}, {0}},
    {SEQ, "seq", "nuswideseq", "", "onlyone", {26.79, 22.75, 27.59, 25.45, NONE}, {0}},
    {SEQ, "seq", "nuswideseq", "", "rs", {26.59, 20.74, 16.79, 20.24, 469.1}, {0}},
    {SEQ, "seq", "nuswideseq", "", "cbes", {26.39, 22.13, 25.34, 24.38, 524.4}, {0}},
    {SEQ, "seq", "nuswideseq", "", "prs", {25.54, 23.10, 28.16, 25.74, 801.8}, {0}},
    {SEQ, "seq", "nuswideseq", "", "ocdm", {25.55, 23.44, 28.32, 25.96, 486.6}, {0}},
    /* Table 5 */
    {THREE, "memory-size", "mscoco", "300", "rs", {24.8, 24.6, 30.9}, {0}},
    {THREE, "memory-size", "mscoco", "300", "gss", {24.2, 23.7, 29.8}, {0}},
    {THREE, "memory-size", "mscoco", "300", "cbes", {29.4, 30.6, 34.0}, {0}},
    {THREE, "memory-size", "mscoco", "300", "prs", {32.3, 30.2, 35.2}, {0}},
    {THREE, "memory-size", "mscoco", "300", "ocdm", {31.3, 30.2, 35.8}, {0}},
    {THREE, "memory-size", "mscoco", "500", "rs", {28.7, 27.0, 35.1}, {0}},
    {THREE, "memory-size", "mscoco", "500", "gss", {27.2, 25.7, 31.5}, {0}},
    {THREE, "memory-size", "mscoco", "500", "cbes", {31.8, 33.8, 36.6}, {0}},
    {THREE, "memory-size", "mscoco", "500", "prs", {35.4, 33.9, 38.9}, {0}},
    {THREE, "memory-size", "mscoco", "500", "ocdm", {35.9, 35.2, 39.5}, {0}},
    {THREE, "memory-size", "nuswide", "300", "rs", {11.4, 8.3, 13.3}, {0}},
    {THREE, "memory-size", "nuswide", "300", "gss", {14.2, 10.2, 14.9}, {0}},
    {THREE, "memory-size", "nuswide", "300", "cbes", {13.2, 8.7, 14.4}, {0}},
    {THREE, "memory-size", "nuswide", "300", "prs", {16.3, 12.6, 15.6}, {0}},
    {THREE, "memory-size", "nuswide", "300", "ocdm", {17.2, 13.4, 16.2}, {0}},
    {THREE, "memory-size", "nuswide", "500", "rs", {12.5, 10.2, 13.6}, {0}},
    {THREE, "memory-size", "nuswide", "500", "gss", {15.6, 10.7, 15.6}, {0}},
    {THREE, "memory-size", "nuswide", "500", "cbes", {13.7, 11.7, 15.9}, {0}},
    {THREE, "memory-size", "nuswide", "500", "prs", {20.4, 17.3, 18.2}, {0}},
    {THREE, "memory-size", "nuswide", "500", "ocdm", {21.6, 17.9, 18.9}, {0}},
    /* Table 6 */
    {STRATEGY, "strategies", "mscoco", "", "max", {33.4, 36.1, 39.6, 663.1}, {0.8, 0.6, 1.6, NONE}},
    {STRATEGY, "strategies", "mscoco", "", "random", {28.7, 28.7, 33.4, 659.8}, {2.0, 1.7, 2.1, NONE}},
    {STRATEGY, "strategies", "mscoco", "", "ocdm", {40.5, 38.9, 43.0, 674.2}, {1.7, 1.8, 0.7, NONE}},
    {STRATEGY, "strategies", "nuswide", "", "max", {19.5, 19.5, 19.2, 583.9}, {1.8, 0.6, 0.7, NONE}},
    {STRATEGY, "strategies", "nuswide", "", "random", {8.3, 9.4, 13.2, 579.6}, {1.7, 1.0, 0.8, NONE}},
    {STRATEGY, "strategies", "nuswide", "", "ocdm", {25.8, 23.3, 22.2, 582.1}, {0.5, 0.6, 0.4, NONE}},
    /* Table 7 */
    {ORDER, "orders", "mscoco", "3,0,1,2", "rs", {40.6}, {0.5}},
    {ORDER, "orders", "mscoco", "2,1,3,0", "rs", {42.1}, {0.7}},
    {ORDER, "orders", "mscoco", "0,2,3,1", "rs", {39.1}, {0.8}},
    {ORDER, "orders", "mscoco", "3,0,1,2", "prs", {41.0}, {0.4}},
    {ORDER, "orders", "mscoco", "2,1,3,0", "prs", {44.9}, {2.5}},
    {ORDER, "orders", "mscoco", "0,2,3,1", "prs", {44.0}, {0.6}},
    {ORDER, "orders", "mscoco", "3,0,1,2", "ocdm", {44.5}, {0.9}},
    {ORDER, "orders", "mscoco", "2,1,3,0", "ocdm", {45.9}, {2.5}},
    {ORDER, "orders", "mscoco", "0,2,3,1", "ocdm", {46.3}, {2.1}},
    {ORDER, "orders", "nuswide", "3,0,1,4,2", "rs", {16.3}, {0.7}},
    {ORDER, "orders", "nuswide", "2,1,3,4,0", "rs", {18.1}, {0.2}},
    {ORDER, "orders", "nuswide", "0,2,4,3,1", "rs", {17.1}, {1.0}},
    {ORDER, "orders", "nuswide", "3,0,1,4,2", "prs", {19.5}, {0.3}},
    {ORDER, "orders", "nuswide", "2,1,3,4,0", "prs", {20.3}, {0.7}},
    {ORDER, "orders", "nuswide", "0,2,4,3,1", "prs", {20.5}, {0.3}},
    {ORDER, "orders", "nuswide", "3,0,1,4,2", "ocdm", {20.4}, {0.5}},
    {ORDER, "orders", "nuswide", "2,1,3,4,0", "ocdm", {21.1}, {0.5}},
    {ORDER, "orders", "nuswide", "0,2,4,3,1", "ocdm", {22.2}, {0.1}},
};
/* clang-format on */

static const double no_deviations[OCDM__PAPER_COLUMNS] = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};

ocdm__paper_line ocdm__paper_line_at(size_t index)
{
    if (index >= sizeof lines / sizeof *lines)
        return (ocdm__paper_line){.columns = NULL};
    enum columns columns = lines[index].columns;
    return (ocdm__paper_line){
        .table = lines[index].table,
        .stream = lines[index].stream,
        .setting = lines[index].setting,
        .method = lines[index].method,
        .columns = layouts[columns].columns,
        .count = layouts[columns].count,
        .decimals = layouts[columns].decimals,
        .values = lines[index].values,
        .deviations = columns == STRATEGY || columns == ORDER ? lines[index].deviations : no_deviations,
    };
}

ocdm__paper_line ocdm__paper_line_find(const char *table, const char *stream, const char *setting, const char *method)
{
    for (size_t i = 0;; i++) {
        ocdm__paper_line line = ocdm__paper_line_at(i);
        if (line.columns == NULL || (strcmp(line.table, table) == 0 && strcmp(line.stream, stream) == 0 &&
                                     strcmp(line.setting, setting) == 0 && strcmp(line.method, method) == 0))
            return line;
    }
}

double ocdm__paper_number(const char *table, const char *stream, const char *setting, const char *method, const char *group,
                          const char *metric)
{
    ocdm__paper_line line = ocdm__paper_line_find(table, stream, setting, method);
    for (size_t k = 0; line.columns != NULL && k < line.count; k++)
        if (strcmp(line.columns[k].group, group) == 0 && strcmp(line.columns[k].metric, metric) == 0)
            return line.values[k];
    return NAN;
}

/* Section "Class Distribution in Memory after Training". GSS is said to be like RS. */
const ocdm__paper_claim ocdm__paper_claims[] = {
    {"mscoco", "rs", 1, 500, 1},   {"mscoco", "gss", 1, 500, 1}, {"mscoco", "prs", 1, 40, 18},  {"mscoco", "prs", 0, 20, 9},
    {"mscoco", "ocdm", 1, 40, 1},  {"mscoco", "ocdm", 0, 20, 6}, {"nuswide", "rs", 1, 400, 2},  {"nuswide", "gss", 1, 400, 2},
    {"nuswide", "prs", 1, 60, 11}, {"nuswide", "prs", 0, 20, 6}, {"nuswide", "ocdm", 1, 60, 6}, {"nuswide", "ocdm", 0, 20, 0},
    {NULL, NULL, 0, 0, 0},
};

/* Section "Changing the Value of rho". */
const ocdm__paper_trend ocdm__paper_trends[OCDM__PAPER_TRENDS] = {{"majority", 1}, {"moderate", -1}, {"minority", -1}};
