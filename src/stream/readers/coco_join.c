/* COCO files: from annotations, which name images and categories by id, to images with their labels. */
#include "stream/readers/coco_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "base/error.h"
#include "stream/readers/coco.h"

#define CHECK_EVERY 4096

/* The labels of image i are labels[starts[i]] up to labels[starts[i + 1]]. */
struct labels_by_image {
    size_t *starts;
    uint32_t *labels;
};

/* An annotation that names what is not there: left out, or the end. */
static ocdm_status refuse(struct ocdm__coco *coco, struct ocdm__coco_annotation *annotation, bool category)
{
    if (coco->reading->skip_bad) {
        ocdm__coco_skip(coco, category ? OCDM__COCO_UNKNOWN_CATEGORIES : OCDM__COCO_UNKNOWN_IMAGES, (size_t)annotation->at);
        annotation->image = OCDM__NO_NUMBER;
        return OCDM_OK;
    }
    const char *hint = category ? "annotations and categories must come from the same file; `ocdm stream build --skip-bad` "
                                  "leaves such annotations out"
                                : "annotations and images must come from the same file; `ocdm stream build --skip-bad` "
                                  "leaves such annotations out";
    return ocdm__coco_fail(coco, OCDM_BAD_RECORD, (size_t)annotation->at, hint,
                           "annotation %zu names %s %" PRIu64 ", which \"%s\" does not list",
                           (size_t)(annotation - coco->annotations) + 1, category ? "category" : "image",
                           category ? annotation->category : annotation->image, category ? "categories" : "images");
}

/* Puts numbers in place of the ids: `image` becomes a position in coco->images, or OCDM__NO_NUMBER for an annotation that is
 * left out; `category` becomes the number of a class. */
static ocdm_status find_numbers(struct ocdm__coco *coco)
{
    for (size_t i = 0; i < coco->annotation_count; i++) {
        struct ocdm__coco_annotation *annotation = &coco->annotations[i];
        uint64_t category = ocdm__id_map_find(&coco->categories, annotation->category);
        uint64_t image = ocdm__id_map_find(&coco->images_seen, annotation->image);
        bool unknown_image = image == OCDM__NO_NUMBER || image < coco->images_before;
        if (category == OCDM__NO_NUMBER || unknown_image) {
            ocdm_status status = refuse(coco, annotation, category == OCDM__NO_NUMBER);
            if (status != OCDM_OK)
                return status;
            continue;
        }
        annotation->category = category;
        annotation->image = image - coco->images_before;
    }
    return OCDM_OK;
}

/* Counts, then fills from the back: when it is done, each start is where it should be. */
static void sort_by_image(const struct ocdm__coco *coco, struct labels_by_image *by_image)
{
    size_t sum = 0;
    for (size_t i = 0; i < coco->annotation_count; i++)
        if (coco->annotations[i].image != OCDM__NO_NUMBER)
            by_image->starts[coco->annotations[i].image]++;
    for (size_t i = 0; i <= coco->image_count; i++)
        by_image->starts[i] = sum += by_image->starts[i];
    for (size_t i = coco->annotation_count; i-- > 0;) {
        const struct ocdm__coco_annotation *annotation = &coco->annotations[i];
        if (annotation->image != OCDM__NO_NUMBER)
            by_image->labels[--by_image->starts[annotation->image]] = (uint32_t)annotation->category;
    }
}

static ocdm_status add_image(struct ocdm__coco *coco, size_t number, const struct labels_by_image *by_image)
{
    const struct ocdm__coco_image *image = &coco->images[number];
    char id[32] = "";
    ocdm__labelled_sample sample = OCDM__LABELLED_SAMPLE;
    sample.id = id;
    sample.id_length = (size_t)snprintf(id, sizeof id, "%" PRIu64, image->id);
    sample.labels = by_image->labels + by_image->starts[number];
    sample.label_count = by_image->starts[number + 1] - by_image->starts[number];
    sample.part = coco->part;
    if (image->path.given) {
        sample.path_length = ocdm__coco_copy_name(coco, &image->path);
        sample.path = coco->text;
    }
    return ocdm__labelled_set_add(coco->set, &sample, coco->error);
}

static ocdm_status add_images(struct ocdm__coco *coco, const struct labels_by_image *by_image)
{
    ocdm_status status = OCDM_OK;
    for (size_t i = 0; i < coco->image_count && status == OCDM_OK; i++) {
        if (i % CHECK_EVERY == 0)
            status = ocdm__coco_goes_on(coco, (size_t)coco->images[i].path.at, coco->file.size);
        if (status == OCDM_OK)
            status = add_image(coco, i, by_image);
    }
    return status;
}

ocdm_status ocdm__coco_join(struct ocdm__coco *coco)
{
    ocdm_status status = find_numbers(coco);
    if (status != OCDM_OK)
        return status;
    struct labels_by_image by_image = {.starts = ocdm__allocate(coco->image_count + 1, sizeof *by_image.starts),
                                       .labels = ocdm__allocate(coco->annotation_count, sizeof *by_image.labels)};
    if (by_image.starts == NULL || by_image.labels == NULL) {
        status = ocdm__fail_memory(coco->error, "the labels of a source");
    } else {
        sort_by_image(coco, &by_image);
        status = add_images(coco, &by_image);
    }
    ocdm__release(by_image.starts);
    ocdm__release(by_image.labels);
    return status;
}
