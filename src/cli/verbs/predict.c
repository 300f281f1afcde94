/* `ocdm predict`: the labels of image files, or the logits of a stream's samples as an NPY file. */
#include <unistd.h>

#include "base/output.h"
#include "base/text.h"
#include "cli/console.h"
#include "cli/network_flags.h"
#include "cli/verbs.h"
#include "experiment/predict.h"
#include "experiment/run_ranks.h"
#include "report/text.h"

/* In the order of enum ocdm__predict_part. */
static const char *const part_names[] = {"test", "train", "all", NULL};
static const char *const precision_names[] = {"f32", "bf16", NULL};

static ocdm_status read_request(const ocdm__arguments *arguments, ocdm__predict_settings *settings, ocdm_error *error)
{
    OCDM_TRY(ocdm__read_network_flags(arguments, &settings->network, error));
    settings->part = (enum ocdm__predict_part)ocdm__argument_choice(arguments, "split");
    settings->network.bf16 = ocdm__argument_choice(arguments, "precision") == 1;
    settings->network.skip_bad = ocdm__argument_given(arguments, "skip-bad");
    settings->output = ocdm__argument_text(arguments, "output");
    OCDM_TRY(ocdm__arguments_check(arguments, error));
    if (settings->network.skip_bad && ocdm__argument_given(arguments, "strict"))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "choose one of them", "--strict and --skip-bad are both given");
    return OCDM_OK;
}

/* Flags that make sense for the other kind of operand only. */
static ocdm_status refuse_flags(const ocdm__arguments *arguments, const char *const *names, const char *what, ocdm_error *error)
{
    for (size_t i = 0; names[i] != NULL; i++)
        if (ocdm__argument_given(arguments, names[i]))
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "leave it out", "--%s is for %s", names[i], what);
    return OCDM_OK;
}

/* ---- a stream ------------------------------------------------------------------------------------------------------------ */

/* ---- image files --------------------------------------------------------------------------------------------------------- */

enum form { TEXT, JSON, CSV };

/* What is done with the result for each file. */
struct listing {
    enum form form;
    size_t top;       /* the most labels of a file; 0: any number */
    double lowest;    /* logits above it are listed */
    double threshold; /* the same as a probability */
    bool strict;
    bool terminal; /* the output is one */
    const ocdm__weights_about *about;
    size_t classes;
    struct ranked {
        float logit;
        uint32_t number;
    } * ranked; /* classes, the most probable first */
    ocdm__output *out, file;
    size_t failed, files;
    ocdm_status first_failure;
};

/* The largest logit first, equal ones by class. */
static int by_logit(const void *a, const void *b)
{
    const struct ranked *left = a, *right = b;
    if (left->logit != right->logit)
        return left->logit > right->logit ? -1 : 1;
    return left->number < right->number ? -1 : left->number > right->number;
}

/* Quoted where it has to be. A file gets the bytes as they are, a terminal none that it would obey. */
static void write_cell(struct listing *listing, const char *text, size_t length)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + length;
    bool plain = true;
    for (size_t i = 0; i < length; i++)
        plain = plain && strchr(",\"\r\n", text[i]) == NULL;
    ocdm__output_text(listing->out, plain ? "" : "\"");
    while (at < end) {
        size_t size = ocdm__utf8_sequence(at, end);
        bool hidden = listing->terminal && (size == 0 || ocdm__is_control(at, size));
        size = size > 0 ? size : 1;
        ocdm__output_write(listing->out, hidden ? (const unsigned char *)"????" : at, size);
        if (*at == '"')
            ocdm__output_text(listing->out, "\"");
        at += size;
    }
    ocdm__output_text(listing->out, plain ? "" : "\"");
}

/* Begins a line. JSON is UTF-8, which the names of files need not be. */
static void write_path(struct listing *listing, const char *path)
{
    if (listing->form == CSV) {
        write_cell(listing, path, strlen(path));
        return;
    }
    const ocdm__shown_path shown = ocdm__show_path(path);
    if (listing->form == JSON) {
        ocdm__json_open(listing->out, NULL, '{');
        ocdm__json_string(listing->out, "file", shown.text);
    } else {
        ocdm__output_text(listing->out, shown.text);
        ocdm__output_text(listing->out, "  ");
    }
}

/* The class at a place of the ranking, by its number where names are not known, and its probability. */
static void write_label(struct listing *listing, size_t place, const char *between)
{
    const struct ranked *ranked = &listing->ranked[place];
    ocdm__output *out = listing->out;
    double probability = 1 / (1 + exp(-(double)ranked->logit));
    char digits[24];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRIu32, ranked->number);
    const char *name =
        listing->about->class_count > 0 ? ocdm__text_at(&listing->about->classes, ranked->number, &length) : digits;
    if (listing->form == TEXT) {
        ocdm__put(out, "%s%s %.2f", between, ocdm__show_label(name, length).text, probability);
    } else if (listing->form == JSON) {
        ocdm__json_open(out, NULL, '{');
        ocdm__json_bytes(out, "label", name, length);
        ocdm__json_key(out, "probability");
        ocdm__put(out, "%.4f", probability);
        ocdm__json_close(out, '}');
    } else {
        write_cell(listing, name, length);
        ocdm__put(out, ",%.4f\n", probability);
    }
}

/* A line with all labels that are listed; in a table one for each. */
static void write_labels(struct listing *listing, const char *path)
{
    size_t most = listing->top > 0 && listing->top < listing->classes ? listing->top : listing->classes, count = 0;
    while (count < most && (double)listing->ranked[count].logit > listing->lowest)
        count++;
    for (size_t i = 0; listing->form == CSV && i < count; i++) {
        write_path(listing, path);
        ocdm__output_text(listing->out, ",");
        write_label(listing, i, "");
    }
    if (listing->form == CSV && count > 0)
        return;
    write_path(listing, path);
    if (listing->form == JSON)
        ocdm__json_open(listing->out, "labels", '[');
    for (size_t i = 0; i < count; i++)
        write_label(listing, i, i > 0 ? ", " : "");
    if (listing->form == TEXT && count == 0) {
        ocdm__put(listing->out, "nothing above %g; best is ", listing->threshold);
        write_label(listing, 0, "");
    }
    ocdm__output_text(listing->out, listing->form == JSON ? "]}\n" : listing->form == CSV ? ",,\n" : "\n");
}

/* One line on stderr; the work goes on unless it is strict. */
static ocdm_status tell_failure(struct listing *listing, const ocdm_error *why, ocdm_error *error)
{
    if (listing->failed++ == 0)
        listing->first_failure = why->status;
    if (listing->strict) {
        *error = *why;
        return why->status;
    }
    ocdm__output_flush(listing->out);
    fprintf(stderr, "error: %s\n", why->message);
    return OCDM_OK;
}

static ocdm_status list_photo(void *state, const ocdm__photo *photo, ocdm_error *error)
{
    struct listing *listing = state;
    listing->files++;
    if (photo->why != NULL) {
        if (listing->form == JSON) {
            write_path(listing, photo->path);
            ocdm__json_string(listing->out, "error", photo->why->message);
            ocdm__output_text(listing->out, "}\n");
        }
        return tell_failure(listing, photo->why, error);
    }
    for (size_t i = 0; i < listing->classes; i++)
        listing->ranked[i] = (struct ranked){photo->logits[i], (uint32_t)i};
    qsort(listing->ranked, listing->classes, sizeof *listing->ranked, by_logit);
    write_labels(listing, photo->path);
    return ocdm__output_check(listing->out, error);
}

/* On standard output the results are written as they come, and are progress enough. */
static ocdm_status list_photos(const ocdm__arguments *arguments, struct listing *listing, ocdm__predictor *predictor,
                               const char *path, ocdm_error *error)
{
    ocdm__progress_line line;
    ocdm__found_files list = {.count = 0};
    listing->about = &predictor->about;
    listing->classes = predictor->fit.class_count;
    listing->terminal = path == NULL && isatty(STDOUT_FILENO);
    listing->out = path != NULL ? &listing->file : arguments->out;
    OCDM_TRY(ocdm__new(&listing->ranked, listing->classes, sizeof *listing->ranked, "the classes", error));
    ocdm_status status = path != NULL ? ocdm__output_open(&listing->file, path, error) : OCDM_OK;
    if (status == OCDM_OK && listing->form == CSV)
        ocdm__output_text(listing->out, "file,label,probability\n");
    for (size_t i = 0; i < arguments->operand_count && status == OCDM_OK; i++) {
        ocdm_error why; /* a folder that cannot be listed is reported like a file */
        status = ocdm__check_output(arguments->operands[i], path, error);
        if (status == OCDM_OK && ocdm__photos_find(&list, arguments->operands[i], &why) != OCDM_OK)
            status = why.status == OCDM_NO_MEMORY ? (*error = why).status : tell_failure(listing, &why, error);
    }
    ocdm__progress_line_begin(&line, path == NULL || ocdm__argument_given(arguments, "quiet"));
    if (status == OCDM_OK && list.count > 0)
        status = ocdm__photos_predict(predictor, &list, &line.progress, list_photo, listing, error);
    ocdm__status_line_erase(&line.line);
    ocdm__found_files_clear(&list);
    if (path != NULL)
        OCDM_THEN(status, ocdm__output_commit(&listing->file, error));
    else
        ocdm__output_flush(arguments->out); /* also what there is before an error */
    ocdm__output_abandon(&listing->file);
    return status;
}

static ocdm_status predict_photos(const ocdm__arguments *arguments, ocdm__predict_settings *settings, struct listing *listing,
                                  ocdm_error *error)
{
    static const char *const others[] = {"split", "images", NULL};
    const char *path = settings->output;
    ocdm__predictor predictor = {.agent = NULL};
    OCDM_TRY(refuse_flags(arguments, others, "streams, not for image files", error));
    bool json = ocdm__argument_given(arguments, "json"), csv = ocdm__argument_given(arguments, "csv");
    if (json && csv)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "choose one of them", "--json and --csv are both given");
    listing->form = json ? JSON : csv ? CSV : TEXT;
    listing->strict = ocdm__argument_given(arguments, "strict");
    listing->threshold = ocdm__argument_real(arguments, "threshold", 0, 1);
    if (ocdm__argument_given(arguments, "top"))
        listing->top = (size_t)ocdm__argument_unsigned(arguments, "top", 1, UINT32_MAX);
    listing->lowest = log(listing->threshold / (1 - listing->threshold));
    if (listing->top > 0 && !ocdm__argument_given(arguments, "threshold"))
        listing->lowest = -INFINITY;
    OCDM_TRY(ocdm__arguments_check(arguments, error));
    if (path != NULL && strlen(path) > 4 && strcmp(path + strlen(path) - 4, ".npy") == 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "take --csv or --json, or build a stream of the images",
                          "%s: NPY files of logits are made of streams, not of image files", path);
    if (path != NULL)
        OCDM_TRY(ocdm__check_output(settings->network.weights, path, error));
    ocdm_status status = ocdm__predictor_open(&predictor, &settings->network, error);
    OCDM_THEN(status, ocdm__read_class_names(arguments, predictor.fit.class_count, &predictor.about, error));
    OCDM_THEN(status, list_photos(arguments, listing, &predictor, path, error));
    ocdm__release(listing->ranked);
    ocdm__predictor_close(&predictor);
    return status;
}

/* ---- the run ------------------------------------------------------------------------------------------------------------- */

static bool names_streams(const ocdm__arguments *arguments)
{
    for (size_t i = 0; i < arguments->operand_count; i++)
        if (ocdm__is_stream_file(arguments->operands[i]))
            return true;
    return false;
}

static ocdm_status predict(ocdm__arguments *arguments, ocdm_error *error)
{
    struct listing listing = {.failed = 0};
    ocdm__predict_settings settings = {.output = NULL};
    if (arguments->operand_count == 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "name image files, folders of them, or a stream", "no file is given");
    if (arguments->operand_count > 1 && names_streams(arguments))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "predict it in a command of its own", "a stream among several files");
    OCDM_TRY(read_request(arguments, &settings, error));
    ocdm__catch_signals();
    if (names_streams(arguments)) {
        static const char *const others[] = {"top", "threshold", "csv", "classes", NULL};
        static const char *const parts[] = {"test samples", "training samples", "samples"};
        ocdm__progress_line line;
        ocdm__predict_report report;
        ocdm__output *output = arguments->out;
        bool quiet = ocdm__argument_given(arguments, "quiet");
        OCDM_TRY(refuse_flags(arguments, others, "image files, not for streams", error));
        OCDM_TRY(ocdm__read_network_files(arguments, &settings.network, error));
        ocdm__progress_line_begin(&line, quiet);
        ocdm_status status = ocdm__predict(&settings, &line.progress, &report, error);
        ocdm__status_line_erase(&line.line);
        OCDM_TRY(status);
        if (report.skipped > 0)
            fprintf(stderr, "rows of NaN: %" PRIu64 ", the first because of %s\n", report.skipped,
                    report.first_skipped.message);
        if (!quiet && ocdm__argument_given(arguments, "json")) {
            ocdm__json_open(output, NULL, '{');
            ocdm__json_string(output, "file", settings.output);
            ocdm__json_string(output, "split", part_names[settings.part]);
            ocdm__json_count(output, "samples", report.samples);
            ocdm__json_count(output, "classes", report.classes);
            ocdm__json_count(output, "skipped", report.skipped);
            ocdm__output_text(output, "}\n");
        } else if (!quiet) {
            ocdm__output_text(output, ocdm__show_path(settings.output).text);
            ocdm__put(output, ": %s: %" PRIu64 ", classes: %" PRIu64 "\n", parts[settings.part], report.samples,
                      report.classes);
        }
        return OCDM_OK;
    }
    OCDM_TRY(predict_photos(arguments, &settings, &listing, error));
    bool accepted = settings.network.skip_bad && listing.failed < listing.files;
    arguments->code = listing.failed > 0 && !accepted ? ocdm__exit_code(listing.first_failure) : OCDM__EXIT_OK;
    return OCDM_OK;
}

static ocdm_status run(ocdm__arguments *arguments, ocdm_error *error)
{
    ocdm_status status = predict(arguments, error);
    ocdm__join_end();
    return status;
}

/* The leader wants others for images, of a stream or not. */
static void follow(const ocdm__arguments *arguments)
{
    ocdm_error error;
    ocdm__predict_settings settings = {.output = NULL};
    if (!ocdm__join_await())
        return;
    ocdm_status status = read_request(arguments, &settings, &error);
    if (status == OCDM_OK && names_streams(arguments))
        status = ocdm__read_network_files(arguments, &settings.network, &error);
    if (status == OCDM_OK)
        ocdm__predictor_follow(&settings.network, settings.part);
    else
        ocdm__ranks_end_after(ocdm__ranks_all(), &error);
}

/* ---- flags ----------------------------------------------------------------------------------------------------------- */

static const ocdm__flag flags[] = {
    OCDM__VALUE('o', "output", "FILE", NULL,
                "of a stream: the NPY file to write; of image files: write there what is printed otherwise"),
    OCDM__NETWORK_FLAGS,
    OCDM__VALUE(0, "threshold", "P", "0.5", "image files: print labels with a probability above P"),
    OCDM__VALUE(0, "top", "K", NULL, "image files: print at most K labels; all K, unless --threshold is given"),
    OCDM__CLASSES_FLAG,
    OCDM__CHOICE(0, "split", "PART", "test", part_names, "streams: which samples"),
    OCDM__CHOICE(0, "precision", "P", "f32", precision_names, "bf16 needs a CPU that supports it"),
    OCDM__SWITCH(0, "skip-bad",
                 "streams: a row of NaN for a sample whose image cannot be decoded; image files: exit code 0 all the same"),
    OCDM__SWITCH(0, "strict", "stop at an image that cannot be decoded; of a stream that is so without --skip-bad too"),
    OCDM__SWITCH(0, "json", "streams: print the result as one JSON object; image files: one object a line"),
    OCDM__SWITCH(0, "csv", "image files: print a table with a line for each label"),
    OCDM__SWITCH('q', "quiet", "streams: print nothing but errors and what was left out; no progress line"),
    {.name = NULL},
};

const ocdm__verb ocdm__verb_predict = {
    .name = "predict",
    .summary = "labels of image files, or a network's logits for a stream",
    .operands = "FILE...",
    .operand_limit = SIZE_MAX,
    .flags = flags,
    .run = run,
    .distributes = true,
    .follow = follow,
};
