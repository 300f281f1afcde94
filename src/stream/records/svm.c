/*
 * LIBSVM and XMC: labels, comma-separated, then features as name:value, with spaces or tabs between. A line that starts with a
 * blank or with a feature has no label. From a # at the start of a token on, the line is a comment. XMC files start with a line
 * of three numbers: samples, features, labels.
 */
#include "stream/records/state.h"

#include <string.h>

#include "stream/records/svm_token.h"

static bool is_whole(const char *at, const char *end)
{
    for (const char *digit = at; digit < end; digit++)
        if (*digit < '0' || *digit > '9')
            return false;
    return at < end;
}

bool ocdm__is_xmc_header(const char *line, size_t length)
{
    const char *end = line + length;
    for (int i = 0; i < 3; i++) {
        struct ocdm__svm_token token = ocdm__next_svm_token(line, end);
        if (!is_whole(token.at, token.end))
            return false;
        line = token.end;
    }
    struct ocdm__svm_token rest = ocdm__next_svm_token(line, end);
    return rest.at == rest.end;
}

static bool starts_number(char byte)
{
    return (byte >= '0' && byte <= '9') || byte == '+' || byte == '-' || byte == '.';
}

bool ocdm__has_feature(const char *line, size_t length)
{
    const char *end = line + length;
    for (;;) {
        struct ocdm__svm_token token = ocdm__next_svm_token(line, end);
        if (token.at == token.end)
            return false;
        const char *colon = memchr(token.at, ':', (size_t)(token.end - token.at));
        if (colon && is_whole(token.at, colon) && colon + 1 < token.end && starts_number(colon[1]))
            return true;
        line = token.end;
    }
}

static size_t position_of(const ocdm__records *records, const char *at)
{
    return (size_t)(at - records->input.data);
}

static ocdm_status read_labels(ocdm__records *records, const ocdm__record_place *place, struct ocdm__svm_token token,
                               ocdm_error *error)
{
    for (const char *at = token.at;;) {
        const char *comma = memchr(at, ',', (size_t)(token.end - at));
        const char *end = comma ? comma : token.end;
        if (at == end)
            return ocdm__bad_record(records, place, position_of(records, at), error, NULL, "an empty label");
        ocdm_status status = ocdm__add_piece(records, place, position_of(records, at), at, (size_t)(end - at), error);
        if (status != OCDM_OK || !comma)
            return status;
        at = comma + 1;
    }
}

static ocdm_status check_features(const ocdm__records *records, const ocdm__record_place *place, const char *at,
                                  const char *end, ocdm_error *error)
{
    for (;;) {
        struct ocdm__svm_token token = ocdm__next_svm_token(at, end);
        if (token.at == token.end)
            return OCDM_OK;
        const char *colon = memchr(token.at, ':', (size_t)(token.end - token.at));
        if (!colon || colon == token.at || colon + 1 == token.end)
            return ocdm__bad_record(records, place, position_of(records, token.at), error, NULL,
                                    "a feature that is not name:value");
        at = token.end;
    }
}

ocdm_status ocdm__read_svm(ocdm__records *records, const ocdm__record_place *place, ocdm__record *record, ocdm_error *error)
{
    const char *at = records->input.data + place->at, *end = records->input.data + place->end;
    ocdm_status status = ocdm__check_text(records, place, error);
    struct ocdm__svm_token first = ocdm__next_svm_token(at, end);
    if (status == OCDM_OK && first.at == at && !memchr(at, ':', (size_t)(first.end - at))) {
        status = read_labels(records, place, first, error);
        at = first.end;
    }
    if (status == OCDM_OK)
        status = check_features(records, place, at, end, error);
    return status == OCDM_OK ? ocdm__add_labels(records, record, error) : status;
}
