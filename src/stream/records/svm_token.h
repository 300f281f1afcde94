/* The tokens of a LIBSVM or XMC line: blanks between them, and from a # at the start of a token on the line is a comment. */
#ifndef OCDM_STREAM_RECORDS_SVM_TOKEN_H
#define OCDM_STREAM_RECORDS_SVM_TOKEN_H

#include <stdbool.h>

/* A piece of a line; at == end when there is none left. */
struct ocdm__svm_token {
    const char *at, *end;
};

static inline bool ocdm__is_svm_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

static inline struct ocdm__svm_token ocdm__next_svm_token(const char *at, const char *end)
{
    while (at < end && ocdm__is_svm_blank(*at))
        at++;
    if (at < end && *at == '#')
        at = end;
    struct ocdm__svm_token token = {.at = at, .end = at};
    while (token.end < end && !ocdm__is_svm_blank(*token.end))
        token.end++;
    return token;
}

#endif
