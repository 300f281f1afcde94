/*
 * The safetensors container: eight bytes with the length of a JSON header, the header, then the tensors' bytes, little-endian
 * and without gaps. NumPy, PyTorch, JAX and Rust read it; nothing in it can run.
 *
 * Every file that we write has a checksum of all its bytes in the metadata, so that damage that leaves the structure intact is
 * found too. Files of others need none.
 */
#ifndef OCDM_BASE_SAFETENSORS_H
#define OCDM_BASE_SAFETENSORS_H

#include "base/output.h"

/* The text that the checksum of a file has while the checksum is computed; the digits replace it. */
#define OCDM__CHECKSUM_BLANK "0000000000000000"

#define OCDM__TENSOR_RANK 8

/* Element types by the names that the format gives them. */
enum ocdm__dtype {
    OCDM__U8,
    OCDM__I8,
    OCDM__U32,
    OCDM__I32,
    OCDM__U64,
    OCDM__I64,
    OCDM__F16,
    OCDM__BF16,
    OCDM__F32,
    OCDM__F64
};

#define OCDM__DTYPE_COUNT 10

/* Name and bytes of each element type, by enum ocdm__dtype. */
struct ocdm__dtype_facts {
    const char *name;
    size_t size;
};
extern const struct ocdm__dtype_facts ocdm__dtypes[OCDM__DTYPE_COUNT];

/* One tensor: `data` holds `size` little-endian bytes. */
struct ocdm__tensor {
    const char *name; /* not ended by a NUL in a file that was read: see name_length */
    size_t name_length;
    enum ocdm__dtype dtype;
    uint32_t rank;
    uint64_t shape[OCDM__TENSOR_RANK];
    const unsigned char *data;
    size_t size;
};

/* One entry of the metadata; as in the file, escapes not undone, when it was read. */
struct ocdm__note {
    const char *key;
    size_t key_length;
    const char *value;
    size_t value_length;
};

/* A file that was read: pointers into its bytes, which must outlive it. */
struct ocdm__safetensors {
    struct ocdm__tensor *tensors; /* in the order of their data */
    size_t tensor_count;
    struct ocdm__note *notes;
    size_t note_count;
};

/* A file that was read, and its name in messages. */
struct ocdm__weights {
    const char *name;
    const struct ocdm__safetensors *file;
};

/* Tensors to be saved. Start with all bytes zero. */
typedef struct ocdm__tensor_list {
    struct ocdm__tensor *tensors; /* names end with a NUL; `data` is NULL where it has to be fetched from their owner */
    size_t count;
    void *memory; /* what they point into */
} ocdm__tensor_list;

void ocdm__tensor_list_clear(ocdm__tensor_list *list);

/* Bytes that one element takes. */
size_t ocdm__dtype_size(enum ocdm__dtype dtype);

/* A tensor of rank 1 over `count` elements; `name` ends with a NUL. */
struct ocdm__tensor ocdm__tensor_of(const char *name, enum ocdm__dtype dtype, const void *data, uint64_t count);

/*
 * Writes a whole file. Tensors come in the order given: put the widest elements first, so that all are aligned. Notes have
 * NUL-ended keys and values (lengths are ignored); "checksum" is added. OCDM_OK, OCDM_NO_MEMORY; write errors stay in
 * `output`.
 */
ocdm_status ocdm__safetensors_write(ocdm__output *output, const struct ocdm__note *notes, size_t note_count,
                                    const struct ocdm__tensor *tensors, size_t tensor_count, ocdm_error *error);

/* The same for tensors whose data is fetched one at a time, and twice, since the checksum of all data comes before the data:
 * `data_of` finds that of tensor number i, valid until its next call. What it refuses is found before anything is written. */
typedef ocdm_status ocdm__tensor_data(const void *state, size_t i, const unsigned char **data, ocdm_error *error);
ocdm_status ocdm__safetensors_write_from(ocdm__output *output, const struct ocdm__note *notes, size_t note_count,
                                         const struct ocdm__tensor *tensors, size_t tensor_count, ocdm__tensor_data *data_of,
                                         const void *state, ocdm_error *error);

/*
 * Writes the header alone, for data that comes piece by piece: the caller writes the tensors' bytes after it, in the order
 * given and of the sizes given; `data` is ignored. No checksum is added: `sum` is that of base/bytes.h over what was
 * written, to go on from. OCDM_OK, OCDM_NO_MEMORY.
 */
ocdm_status ocdm__safetensors_begin(ocdm__output *output, const struct ocdm__note *notes, size_t note_count,
                                    const struct ocdm__tensor *tensors, size_t tensor_count, uint64_t *sum, ocdm_error *error);

/*
 * Reads a file's structure and checks all of it: header, names, types, shapes, offsets without overlap or gap, and the checksum
 * if there is one. OCDM_OK, OCDM_BAD_FILE (message: `name`, byte, what), OCDM_NO_MEMORY.
 */
ocdm_status ocdm__safetensors_read(struct ocdm__safetensors *file, const char *name, const unsigned char *bytes, size_t size,
                                   ocdm_error *error);

/* Releases what reading allocated. A struct of zeros is fine. */
void ocdm__safetensors_close(struct ocdm__safetensors *file);

/* A tensor, or a note, by name; NULL when there is none. */
const struct ocdm__tensor *ocdm__safetensors_find(const struct ocdm__safetensors *file, const char *name);
const struct ocdm__note *ocdm__safetensors_note(const struct ocdm__safetensors *file, const char *key);

/* The length of the prefix if the tensor's name begins with it and goes on; else 0. */
static inline size_t ocdm__tensor_prefix(const struct ocdm__tensor *tensor, const char *prefix)
{
    size_t length = strlen(prefix);
    return tensor->name_length > length && memcmp(tensor->name, prefix, length) == 0 ? length : 0;
}

/* Whether a note's value, unescaped, is exactly this text. Values of more than OCDM__NOTE_COMPARED bytes are ignored. */
#define OCDM__NOTE_COMPARED 512
bool ocdm__note_is(const struct ocdm__note *note, const char *text);

#endif
