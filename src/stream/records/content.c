/*
 * Detects what a file is by its first bytes. gzip and zstd are decompressed while reading, in bounded memory, including
 * several members or frames; other files that are not records are refused by name, with the command that makes records of
 * them.
 */
#include <zlib.h>
#include <zstd.h>

#include "stream/records/record.h"

/* Compressed bytes that are read at a time. */
#define PACKED_SIZE ((size_t)128 * 1024)

/* As many bytes as the longest magic number. */
#define MAGIC_SIZE 8

/* ---- decompressors -------------------------------------------------------------------------------------------------- */

struct unpacking {
    z_stream gzip;
    ZSTD_DStream *zstd;
    const char *kind;
    size_t at, size; /* compressed bytes that are not used yet: packed[at..size) */
    bool ended;      /* the file has no more */
    bool whole;      /* at the end of a member or frame */
    char packed[];
};

static void close_unpacking(void *state)
{
    struct unpacking *unpacking = state;
    if (unpacking->zstd != NULL)
        ZSTD_freeDStream(unpacking->zstd);
    else
        inflateEnd(&unpacking->gzip);
    ocdm__release(unpacking);
}

static ocdm_status fail_packed(const ocdm__input *input, const struct unpacking *unpacking, const char *why, ocdm_error *error)
{
    return ocdm__fail(error, OCDM_IO, "the file is damaged or incomplete: fetch or make it again", "%s: %s data: %s",
                      input->name, unpacking->kind, why);
}

/* One step of inflate. After a member another one may follow. */
static ocdm_status step_gzip(const ocdm__input *input, struct unpacking *unpacking, char *to, size_t room, size_t *count,
                             ocdm_error *error)
{
    z_stream *gzip = &unpacking->gzip;
    if (unpacking->whole)
        inflateReset(gzip);
    gzip->next_in = (Bytef *)(unpacking->packed + unpacking->at);
    gzip->avail_in = (uInt)(unpacking->size - unpacking->at);
    gzip->next_out = (Bytef *)to;
    gzip->avail_out = (uInt)(room < PACKED_SIZE ? room : PACKED_SIZE);
    uInt offered = gzip->avail_out;
    int code = inflate(gzip, Z_NO_FLUSH);
    if (code == Z_MEM_ERROR)
        return ocdm__fail_memory(error, "decompression");
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
        return fail_packed(input, unpacking, gzip->msg != NULL ? gzip->msg : "damaged", error);
    unpacking->at = unpacking->size - gzip->avail_in;
    unpacking->whole = code == Z_STREAM_END;
    *count = offered - gzip->avail_out;
    return OCDM_OK;
}

static ocdm_status step_zstd(const ocdm__input *input, struct unpacking *unpacking, char *to, size_t room, size_t *count,
                             ocdm_error *error)
{
    ZSTD_inBuffer in = {unpacking->packed, unpacking->size, unpacking->at};
    ZSTD_outBuffer out = {to, room, 0};
    size_t left = ZSTD_decompressStream(unpacking->zstd, &out, &in);
    if (ZSTD_isError(left))
        return fail_packed(input, unpacking, ZSTD_getErrorName(left), error);
    unpacking->at = in.pos;
    unpacking->whole = left == 0;
    *count = out.pos;
    return OCDM_OK;
}

/* An ocdm__input_filter.read: steps until there is at least one byte. */
static ocdm_status unpack(ocdm__input *input, char *to, size_t room, size_t *count, ocdm_error *error)
{
    struct unpacking *unpacking = input->filter.state;
    *count = 0;
    while (*count == 0) {
        if (unpacking->at == unpacking->size) {
            OCDM_TRY(ocdm__input_read(input, unpacking->packed, PACKED_SIZE, &unpacking->size, error));
            unpacking->at = 0;
            unpacking->ended = unpacking->size == 0 && !input->stopped;
        }
        if (input->stopped)
            return OCDM_OK;
        if (unpacking->ended)
            return unpacking->whole ? OCDM_OK : fail_packed(input, unpacking, "it ends too early", error);
        OCDM_TRY((unpacking->zstd != NULL ? step_zstd : step_gzip)(input, unpacking, to, room, count, error));
    }
    return OCDM_OK;
}

/* ---- kinds of files ------------------------------------------------------------------------------------------------- */

/* One row per kind: how it begins, and either that it is unpacked, or what it is called and how records are made of it: the
 * command is `before`, the file's name, `after`. */
struct content {
    const char *magic;
    size_t length;
    bool packed; /* by what `name` says */
    const char *name, *before, *after;
};

static const struct content contents[] = {
    {"\x1f\x8b", 2, true, "gzip", NULL, NULL},
    {"\x28\xb5\x2f\xfd", 4, true, "zstd", NULL, NULL},
    {"PAR1", 4, false, "a Parquet file", "python3 -c \"import pandas; pandas.read_parquet('",
     "').to_json('records.jsonl', orient='records', lines=True)\""},
    {"ARROW1", 6, false, "an Arrow file", "python3 -c \"import pandas; pandas.read_feather('",
     "').to_json('records.jsonl', orient='records', lines=True)\""},
    {"\xff\xfe", 2, false, "UTF-16 text", "iconv -f UTF-16 -t UTF-8 ", " > records.csv"},
    {"\xfe\xff", 2, false, "UTF-16 text", "iconv -f UTF-16 -t UTF-8 ", " > records.csv"},
    {"BZh", 3, false, "bzip2 data", "bzcat ", " > records.jsonl"},
    {"\xfd\x37zXZ", 5, false, "xz data", "xzcat ", " > records.jsonl"},
    {"PK\x03\x04", 4, false, "a zip archive or a workbook", "unzip ", ", or save the workbook as csv"},
    {"\x93NUMPY", 6, false, "an NPY array", "if it is a table of zeros and ones: ocdm stream build --multihot ", " -o STREAM"},
    {"SQLite f", 8, false, "an SQLite database", "sqlite3 -csv -header ", " 'select * from TABLE' > records.csv"},
};

/* What a command calls the file. */
static const char *file_name(const ocdm__input *input)
{
    return input->owns_fd ? input->name : "FILE";
}

/* Reads until `wanted` bytes of the file, which starts at position `from`, are in the window, or it ends. */
static ocdm_status peek(ocdm__input *input, size_t from, size_t wanted, ocdm_error *error)
{
    ocdm_status status = OCDM_OK;
    while (status == OCDM_OK && input->size - from < wanted && !input->ended && !input->stopped)
        status = ocdm__input_fill(input, error);
    return status;
}

/* How many blanks are skipped at most to find the first other bytes. */
#define BLANKS ((size_t)64 * 1024)

/* The next byte from `at` on that is not blank; reads on when there is none yet. SIZE_MAX when there is none at all. */
static size_t next_visible(ocdm__records *records, size_t at)
{
    ocdm__input *input = &records->input;
    for (; at < records->next + BLANKS; at++) {
        if (peek(input, at, 1, NULL) != OCDM_OK || at >= input->size)
            return SIZE_MAX;
        if (strchr(" \t\r\n", input->data[at]) == NULL || input->data[at] == '\0')
            return at;
    }
    return SIZE_MAX;
}

/* By the first two bytes that are not blank. A read that fails here fails again when records are read. */
ocdm_status ocdm__check_json(ocdm__records *records)
{
    char hint[300];
    const char *name = records->input.name, *file = file_name(&records->input);
    bool table = records->format == OCDM__FORMAT_CSV || records->format == OCDM__FORMAT_TSV;
    size_t at = next_visible(records, records->next);
    size_t next = at == SIZE_MAX ? SIZE_MAX : next_visible(records, at + 1);
    if (next == SIZE_MAX || records->format == OCDM__FORMAT_SVM)
        return OCDM_OK;
    const char *data = records->input.data;
    if (data[at] == '[' && data[next] == '{') {
        snprintf(hint, sizeof hint, "one object per line is wanted: jq -c '.[]' '%.200s' > records.jsonl", file);
        return ocdm__fail(&records->why, OCDM_BAD_RECORD, hint, "%s: a JSON array, not JSON Lines", name);
    }
    if (data[at] != '{' || data[next] != '"')
        return OCDM_OK;
    if (table)
        return ocdm__fail(&records->why, OCDM_BAD_RECORD, "--format jsonl reads it", "%s: JSON, not %s", name,
                          ocdm__format_names[records->format]);
    if (memchr(data + at, '\n', next - at) == NULL)
        return OCDM_OK;
    snprintf(hint, sizeof hint, "one object per line is wanted: jq -c . '%.200s' > records.jsonl", file);
    return ocdm__fail(&records->why, OCDM_BAD_RECORD, hint, "%s: a JSON object over several lines, not JSON Lines", name);
}

/* Installs the decompressor, starting with the compressed bytes that are in the window already. */
static ocdm_status begin_unpacking(ocdm__input *input, size_t from, const struct content *content, ocdm_error *error)
{
    size_t taken = input->size - from;
    struct unpacking *unpacking = ocdm__allocate(1, sizeof *unpacking + (taken > PACKED_SIZE ? taken : PACKED_SIZE));
    bool made = unpacking != NULL;
    if (made && strcmp(content->name, "zstd") == 0)
        made = (unpacking->zstd = ZSTD_createDStream()) != NULL;
    else if (made)
        made = inflateInit2(&unpacking->gzip, MAX_WBITS + 16) == Z_OK; /* adding 16 selects gzip in zlib */
    if (!made) {
        ocdm__release(unpacking);
        return ocdm__fail_memory(error, "decompression");
    }
    unpacking->kind = content->name;
    memcpy(unpacking->packed, input->data + from, taken);
    unpacking->size = taken;
    input->filter = (ocdm__input_filter){.read = unpack, .close = close_unpacking, .state = unpacking};
    input->size = from;
    input->ended = false;
    return peek(input, from, MAGIC_SIZE, error);
}

static const struct content *find_content(const ocdm__input *input, size_t from)
{
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++)
        if (input->size - from >= contents[i].length && memcmp(input->data + from, contents[i].magic, contents[i].length) == 0)
            return &contents[i];
    return NULL;
}

ocdm_status ocdm__records_sniff(ocdm__records *records, size_t from)
{
    ocdm__input *input = &records->input;
    char hint[300];
    ocdm_status status = peek(input, from, MAGIC_SIZE, &records->why);
    const struct content *content = status == OCDM_OK ? find_content(input, from) : NULL;
    if (content != NULL && content->packed) {
        status = begin_unpacking(input, from, content, &records->why);
        content = status == OCDM_OK ? find_content(input, from) : NULL;
    }
    if (status != OCDM_OK)
        return status;
    if (content != NULL && content->packed)
        return ocdm__fail(&records->why, OCDM_BAD_RECORD, "unpack it once first", "%s: packed twice", input->name);
    if (content != NULL) {
        snprintf(hint, sizeof hint, "%s%.100s%s", content->before, file_name(input), content->after);
        return ocdm__fail(&records->why, OCDM_BAD_RECORD, hint, "%s: %s, not records", input->name, content->name);
    }
    return OCDM_OK;
}
