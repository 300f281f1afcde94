/* `ocdm weights export`: a trained network as an ONNX file. */
#include "agent/onnx.h"
#include "base/output.h"
#include "cli/console.h"
#include "cli/network_flags.h"
#include "cli/verbs.h"
#include "experiment/weights_file.h"

enum { MOST_PROPERTIES = 8 };

/* Starts with all bytes zero. */
struct work {
    const char *path, *model;
    ocdm__weights_file file;
    struct ocdm__weights_fit fit;
    ocdm__weights_about about;
    uint32_t resize, crop;
    float *offset, *scale; /* NULL: features that were not standardized */
    char input[160];
    char numbers[2][16]; /* resize and crop as texts */
    ocdm__output classes;
    struct ocdm__onnx_property properties[MOST_PROPERTIES];
    size_t property_count;
};

/* ---- what goes in -------------------------------------------------------------------------------------------------------- */

/* A feature of deviation 0 becomes 0, as in the stream. */
static ocdm_status describe_input(struct work *work, bool images, ocdm_error *error)
{
    const ocdm__weights_about *about = &work->about;
    const size_t count = images ? 3 : about->feature_mean != NULL ? about->features : 0;
    char resized[64] = "of any size";
    if (work->resize > 0)
        snprintf(resized, sizeof resized, "the shorter side resized to %" PRIu32 " pixels", work->resize);
    if (images)
        snprintf(work->input, sizeof work->input, "RGB, 0 to 255; %s, then the square of %" PRIu32 " in the middle", resized,
                 work->crop);
    else
        snprintf(work->input, sizeof work->input, "%s", count > 0 ? "features before they are standardized" : "features");
    if (count == 0)
        return OCDM_OK;
    OCDM_TRY(ocdm__new(&work->offset, count, sizeof *work->offset, "the scale of the input", error));
    OCDM_TRY(ocdm__new(&work->scale, count, sizeof *work->scale, "the scale of the input", error));
    const ocdm__image_scale scale = images ? ocdm__image_scale_of(work->model) : (ocdm__image_scale){.mean = {0}};
    for (size_t i = 0; i < count; i++) {
        float deviation = images ? 255 * scale.deviation[i] : about->feature_deviation[i];
        work->offset[i] = images ? 255 * scale.mean[i] : about->feature_mean[i];
        work->scale[i] = deviation > 0 ? 1 / deviation : 0;
    }
    return OCDM_OK;
}

/* ---- the run ------------------------------------------------------------------------------------------------------------- */

static ocdm_status write_file(struct work *work, ocdm_error *error)
{
    const struct ocdm__onnx_network network = {.size = {.name = work->model,
                                                        .class_count = work->fit.class_count,
                                                        .features = work->fit.features,
                                                        .height = work->crop,
                                                        .width = work->crop,
                                                        .blocks = work->fit.blocks},
                                               .weights = {work->file.map.name, &work->file.tensors},
                                               .offset = work->offset,
                                               .scale = work->scale,
                                               .input_text = work->input,
                                               .properties = work->properties,
                                               .property_count = work->property_count};
    ocdm__output output;
    OCDM_TRY(ocdm__output_open(&output, work->path, error));
    ocdm_status status = ocdm__onnx_write(&output, &network, error);
    OCDM_THEN(status, ocdm__output_commit(&output, error));
    ocdm__output_abandon(&output);
    return status;
}

static ocdm_status make_file(const ocdm__arguments *arguments, struct work *work, ocdm_error *error)
{
    ocdm__predictor_settings settings = {.weights = ocdm__first_operand(arguments)};
    if (settings.weights == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "name a safetensors file", "no weights file is given");
    if (work->path == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "name the file to write", "--onnx is missing");
    OCDM_TRY(ocdm__read_model_flags(arguments, &settings, error));
    OCDM_TRY(ocdm__check_output(settings.weights, work->path, error));
    OCDM_TRY(ocdm__weights_open(&work->file, settings.weights, error));
    OCDM_TRY(ocdm__weights_describe(&work->file, &work->fit, &work->about, error));
    work->model = settings.model;
    OCDM_TRY(ocdm__weights_choose_model(&work->file, &work->fit, &work->model, error));
    OCDM_TRY(ocdm__weights_check_head(settings.weights, &work->fit, work->fit.class_count, error));
    OCDM_TRY(ocdm__read_class_names(arguments, work->fit.class_count, &work->about, error));
    OCDM_TRY(ocdm__weights_check_size(work->model, settings.resize, settings.crop, error));
    work->resize = settings.resize;
    work->crop = settings.crop;
    ocdm__weights_choose_size(&work->about, &work->resize, &work->crop, settings.note);
    ocdm__weights_usual_size(&work->about, &work->resize, &work->crop);
    bool images = ocdm__model_takes_images(work->model);
    OCDM_TRY(describe_input(work, images, error));
    OCDM_TRY(ocdm__output_open_memory(&work->classes, "the names of classes", error));
    if (work->about.class_count > 0)
        ocdm__class_names_write(&work->classes, &work->about.classes, work->about.class_count);
    ocdm__output_write(&work->classes, "", 1);
    snprintf(work->numbers[0], sizeof work->numbers[0], "%" PRIu32, work->resize);
    snprintf(work->numbers[1], sizeof work->numbers[1], "%" PRIu32, work->crop);
    const struct ocdm__onnx_property properties[] = {{"model", work->model},
                                                     {"input", work->input},
                                                     {"resize", images ? work->numbers[0] : ""},
                                                     {"crop", images ? work->numbers[1] : ""},
                                                     {"run", work->about.run},
                                                     {"classes", work->classes.buffer}};
    for (size_t i = 0; i < sizeof properties / sizeof *properties; i++)
        if (properties[i].value[0] != '\0')
            work->properties[work->property_count++] = properties[i];
    OCDM_TRY(ocdm__output_check(&work->classes, error));
    return write_file(work, error);
}

static ocdm_status run(ocdm__arguments *arguments, ocdm_error *error)
{
    struct work work = {.path = ocdm__argument_text(arguments, "onnx")};
    ocdm_status status = make_file(arguments, &work, error);
    if (status == OCDM_OK && !ocdm__argument_given(arguments, "quiet")) {
        printf("%s: %s, classes: %" PRIu32 "\n", ocdm__show_path(work.path).text, work.model, work.fit.class_count);
        if (ocdm__model_takes_images(work.model))
            printf("input   image, batch x 3 x %" PRIu32 " x %" PRIu32 ": %s\n", work.crop, work.crop, work.input);
        else
            printf("input   features, batch x %" PRIu32 ": %s\n", work.fit.features, work.input);
        printf("output  logits and probabilities, batch x %" PRIu32 "\n", work.fit.class_count);
    }
    ocdm__output_abandon(&work.classes);
    ocdm__release(work.offset);
    ocdm__release(work.scale);
    ocdm__weights_about_clear(&work.about);
    ocdm__weights_close(&work.file);
    return status;
}

/* ---- flags ----------------------------------------------------------------------------------------------------------- */

static const ocdm__flag flags[] = {
    OCDM__VALUE(0, "onnx", "FILE", NULL, "the file to write; required"),
    OCDM__MODEL_FLAG,
    OCDM__SIZE_FLAGS,
    OCDM__CLASSES_FLAG,
    OCDM__SWITCH('q', "quiet", "print nothing but errors"),
    {.name = NULL},
};

const ocdm__verb ocdm__verb_weights_export = {
    .name = "weights export",
    .summary = "write a trained network as an ONNX file",
    .operands = "FILE",
    .operand_limit = 1,
    .flags = flags,
    .run = run,
};
