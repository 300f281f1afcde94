/* Tables of features made of others. */
#include "stream/joined_rows.h"

#include "base/allocate.h"
#include "base/error.h"

struct joined {
    ocdm__feature_rows rows; /* first, so that one is the other */
    ocdm__feature_rows *first, *second;
};

static ocdm_status read_joined(ocdm__feature_rows *rows, uint64_t row, float *out, ocdm_error *error)
{
    struct joined *joined = (struct joined *)rows;
    uint64_t before = joined->first->count;
    return row < before ? joined->first->read(joined->first, row, out, error)
                        : joined->second->read(joined->second, row - before, out, error);
}

static void close_joined(ocdm__feature_rows *rows)
{
    struct joined *joined = (struct joined *)rows;
    ocdm__feature_rows_close(joined->first);
    ocdm__feature_rows_close(joined->second);
    ocdm__release(joined);
}

ocdm_status ocdm__join_rows(ocdm__feature_rows *first, ocdm__feature_rows *second, const char *second_name,
                            ocdm__feature_rows **rows, ocdm_error *error)
{
    struct joined *joined = ocdm__allocate(1, sizeof *joined);
    ocdm_status status = OCDM_OK;
    if (joined == NULL)
        status = ocdm__fail_memory(error, "the features");
    else if (first->width != second->width)
        status = ocdm__fail(error, OCDM_BAD_FILE, "training and test samples need the same features",
                            "%s: %zu features a sample, the first file has %zu", second_name, second->width, first->width);
    if (status != OCDM_OK) {
        ocdm__feature_rows_close(first);
        ocdm__feature_rows_close(second);
        ocdm__release(joined);
        return status;
    }
    joined->first = first;
    joined->second = second;
    joined->rows = (ocdm__feature_rows){
        .count = first->count + second->count, .width = first->width, .read = read_joined, .close = close_joined};
    *rows = &joined->rows;
    return OCDM_OK;
}

/* ---- picked ---------------------------------------------------------------------------------------------------------- */

struct picked {
    ocdm__feature_rows rows;
    ocdm__feature_rows *from;
    const uint64_t *numbers;
};

static ocdm_status read_picked(ocdm__feature_rows *rows, uint64_t row, float *out, ocdm_error *error)
{
    struct picked *picked = (struct picked *)rows;
    return picked->from->read(picked->from, picked->numbers[row], out, error);
}

static void close_picked(ocdm__feature_rows *rows)
{
    struct picked *picked = (struct picked *)rows;
    ocdm__feature_rows_close(picked->from);
    ocdm__release(picked);
}

ocdm_status ocdm__pick_rows(ocdm__feature_rows *from, const uint64_t *numbers, size_t count, ocdm__feature_rows **rows,
                            ocdm_error *error)
{
    struct picked *picked = ocdm__allocate(1, sizeof *picked);
    if (picked == NULL) {
        ocdm__feature_rows_close(from);
        return ocdm__fail_memory(error, "the features");
    }
    picked->from = from;
    picked->numbers = numbers;
    picked->rows = (ocdm__feature_rows){.count = count, .width = from->width, .read = read_picked, .close = close_picked};
    *rows = &picked->rows;
    return OCDM_OK;
}
