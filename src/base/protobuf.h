/*
 * Writes protobuf messages, field by field. A message within a message is built in an output in memory of its own, then becomes
 * a field. Field numbers are those of the messages' definitions. Write errors stay in the output.
 */
#ifndef OCDM_BASE_PROTOBUF_H
#define OCDM_BASE_PROTOBUF_H

#include "base/output.h"

void ocdm__proto_whole(ocdm__output *output, unsigned field, uint64_t value);
void ocdm__proto_float(ocdm__output *output, unsigned field, float value);
void ocdm__proto_double(ocdm__output *output, unsigned field, double value);
void ocdm__proto_doubles(ocdm__output *output, unsigned field, const double *values, size_t count);
void ocdm__proto_text(ocdm__output *output, unsigned field, const char *text);
void ocdm__proto_bytes(ocdm__output *output, unsigned field, const void *bytes, size_t size);

/* A message that was built in memory, which becomes empty. */
void ocdm__proto_message(ocdm__output *output, unsigned field, ocdm__output *message);

/* The start of a field of so many bytes, which the caller writes. */
void ocdm__proto_begin(ocdm__output *output, unsigned field, uint64_t size);

/* The bytes of a number, such as a length. */
uint64_t ocdm__proto_number_size(uint64_t value);

#endif
