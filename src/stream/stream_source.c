/* Which reader reads what. */
#include "stream/stream_source.h"

#include <string.h>

#include "base/error.h"
#include "stream/arff.h"
#include "stream/coco.h"
#include "stream/joined_rows.h"
#include "stream/npy.h"
#include "stream/nuswide.h"
#include "stream/records_source.h"
#include "stream/svm_features.h"

static ocdm_status read_records(ocdm__labelled_set *set, const char *path, const ocdm__build_settings *settings,
                                ocdm__reading *reading, ocdm_error *error)
{
    return ocdm__records_source_read(set, path, &settings->records, settings->tasks_by, reading, error);
}

/* One file of any kind but COCO's, which come together. */
static ocdm_status read_file(ocdm__labelled_set *set, const char *path, const ocdm__build_settings *settings,
                             ocdm__reading *reading, ocdm_error *error)
{
    switch (settings->kind) {
    case OCDM__FROM_COCO:
        return ocdm__coco_read(set, &path, 1, reading, error);
    case OCDM__FROM_NUSWIDE:
        return ocdm__nuswide_read(set, path, reading, error);
    case OCDM__FROM_ARFF:
        return ocdm__arff_read(set, path, settings->xml, reading, error);
    case OCDM__FROM_MULTIHOT:
        return ocdm__npy_read_labels(set, path, reading, error);
    default:
        return read_records(set, path, settings, reading, error);
    }
}
