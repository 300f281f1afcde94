/* ARFF: names and values. In quotes of either kind, \n, \r and \t are those characters, any other after a \ is itself. */
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"
#include "stream/readers/arff_state.h"

static inline bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

int ocdm__arff_peek(ocdm__arff *arff)
{
    const char *at = arff->at, *end = arff->lines.end;
    while (at < end && is_blank(*at))
        at++;
    arff->at = at;
    return at == end || *at == '%' ? -1 : (unsigned char)*at;
}

static inline bool ends_word(char byte)
{
    return is_blank(byte) || byte == ',' || byte == '{' || byte == '}' || byte == '%';
}

static bool make_scratch(ocdm__arff *arff, size_t needed)
{
    if (arff->scratch != NULL && needed <= arff->scratch_room)
        return true;
    size_t room = needed > SIZE_MAX / 2 ? needed : 2 * needed;
    char *scratch = ocdm__resize(arff->scratch, room, 1);
    if (scratch == NULL)
        return false;
    arff->scratch = scratch;
    arff->scratch_room = room;
    return true;
}

char *ocdm__arff_copy(ocdm__arff *arff, const char *text, size_t length, size_t before)
{
    /* The text may be in the scratch already, which may move. */
    bool inside = arff->scratch != NULL && text == arff->scratch;
    if (!make_scratch(arff, before + length + OCDM__LABEL_PADDING))
        return NULL;
    memmove(arff->scratch + before, inside ? arff->scratch : text, length);
    memset(arff->scratch + before + length, 0, OCDM__LABEL_PADDING);
    return arff->scratch;
}

static char unescaped(char byte)
{
    return byte == 'n' ? '\n' : byte == 'r' ? '\r' : byte == 't' ? '\t' : byte;
}

static ocdm_status quoted_token(ocdm__arff *arff, ocdm__arff_token *token, ocdm_error *error)
{
    const char *at = arff->at + 1, *end = arff->lines.end;
    char quote = *arff->at;
    token->length = 0;
    if (!make_scratch(arff, (size_t)(end - at) + OCDM__LABEL_PADDING))
        return ocdm__fail_memory(error, "a line of a table");
    for (; at < end && *at != quote; at++) {
        bool escape = *at == '\\' && at + 1 < end;
        at += escape;
        arff->scratch[token->length++] = escape ? unescaped(*at) : *at;
    }
    if (at == end)
        return ocdm__table_fail(&arff->lines, arff->at, error, "", "a quote without its other one on the line");
    token->text = arff->scratch;
    token->quoted = true;
    arff->at = at + 1;
    return OCDM_OK;
}

ocdm_status ocdm__arff_next_token(ocdm__arff *arff, ocdm__arff_token *token, ocdm_error *error)
{
    const char *at = arff->at, *end = arff->lines.end;
    token->at = at;
    if (*at == '\'' || *at == '"')
        return quoted_token(arff, token, error);
    while (at < end && !ends_word(*at))
        at++;
    token->text = arff->at;
    token->length = (size_t)(at - arff->at);
    token->quoted = false;
    arff->at = at;
    return OCDM_OK;
}

ocdm_status ocdm__arff_find_value(ocdm__arff *arff, size_t attribute, const ocdm__arff_token *token, uint32_t *number,
                                  ocdm_error *error)
{
    uint32_t owner = (uint32_t)attribute;
    char *key = ocdm__arff_copy(arff, token->text, token->length, sizeof owner);
    if (key == NULL)
        return ocdm__fail_memory(error, "a value of a table");
    memcpy(key, &owner, sizeof owner);
    return ocdm__label_table_add(&arff->values, key, token->length + sizeof owner, number, error);
}
