/* COCO files, one after another: each is read into lists of its own, which end as samples of the one set. */
#include "stream/readers/coco.h"

#include <stdio.h>

#include "base/allocate.h"
#include "base/error.h"
#include "stream/readers/coco_state.h"

/* Forgets the file at hand; what is known of all files stays. */
static void close_file(struct ocdm__coco *coco)
{
    coco->images_before += coco->image_count;
    ocdm__unmap_file(&coco->file);
    ocdm__id_map_clear(&coco->categories);
    ocdm__release(coco->images);
    ocdm__release(coco->annotations);
    coco->images = NULL;
    coco->annotations = NULL;
    coco->image_count = coco->image_room = coco->annotation_count = coco->annotation_room = 0;
}

static ocdm_status read_file(struct ocdm__coco *coco, const char *path)
{
    ocdm_status status = ocdm__map_file(&coco->file, path, coco->error);
    if (status != OCDM_OK)
        return status;
    snprintf(coco->what, sizeof coco->what, "reading %s", path);
    status = ocdm__coco_parse(coco);
    if (status == OCDM_OK)
        status = ocdm__coco_join(coco);
    close_file(coco);
    return status;
}

ocdm_status ocdm__coco_read_parts(ocdm__labelled_set *set, const char *const *paths, const enum ocdm__part *parts,
                                  size_t path_count, ocdm__reading *reading, ocdm_error *error)
{
    struct ocdm__coco *coco = ocdm__allocate(1, sizeof *coco);
    if (coco == NULL)
        return ocdm__fail_memory(error, "a reader");
    coco->set = set;
    coco->reading = reading;
    coco->error = error;
    ocdm_status status = OCDM_OK;
    for (size_t i = 0; i < path_count && status == OCDM_OK; i++) {
        coco->part = parts != NULL ? parts[i] : OCDM__NO_PART;
        status = read_file(coco, paths[i]);
    }
    ocdm__id_map_clear(&coco->images_seen);
    ocdm__release(coco);
    if (status != OCDM_OK)
        ocdm__labelled_set_clear(set);
    return status;
}

ocdm_status ocdm__coco_read(ocdm__labelled_set *set, const char *const *paths, size_t path_count, ocdm__reading *reading,
                            ocdm_error *error)
{
    return ocdm__coco_read_parts(set, paths, NULL, path_count, reading, error);
}
