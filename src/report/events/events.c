/*
 * Event files, written without TensorBoard's libraries. A record is the length of its data (8 bytes), a masked
 * CRC-32C of the length, the data, and a masked CRC-32C of the data; the data is an Event, a protobuf message.
 */
#define _POSIX_C_SOURCE 200809L

#include "report/events/events.h"

#include <fcntl.h>
#include <png.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/json_tree.h"
#include "base/output.h"
#include "base/protobuf.h"
#include "metrics/metrics.h"
#include "report/runs/log.h"
#include "report/runs/read.h"

/* ---- checksums ----------------------------------------------------------------------------------------------------------- */

/* Castagnoli's polynomial, bits reversed. */
#define POLYNOMIAL 0x82F63B78u

static uint32_t crc32c(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= at[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
    }
    return ~crc;
}

/* The checksum of data that holds checksums itself would be weak. */
static uint32_t masked(uint32_t crc)
{
    return (crc >> 15 | crc << 17) + 0xA282EAD8u;
}

static void put_record(ocdm__output *out, const void *data, size_t size)
{
    unsigned char before[12], after[4];
    ocdm__put_u64(before, size);
    ocdm__put_u32(before + 8, masked(crc32c(before, 8)));
    ocdm__put_u32(after, masked(crc32c(data, size)));
    ocdm__output_write(out, before, sizeof before);
    ocdm__output_write(out, data, size);
    ocdm__output_write(out, after, sizeof after);
}

/* ---- events -------------------------------------------------------------------------------------------------------------- */

/* Field numbers of TensorBoard's messages. */
enum { EVENT_WALL_TIME = 1, EVENT_STEP = 2, EVENT_FILE_VERSION = 3, EVENT_SUMMARY = 5 };
enum { SUMMARY_VALUE = 1 };
enum { VALUE_TAG = 1, VALUE_SIMPLE = 2, VALUE_IMAGE = 4, VALUE_HISTOGRAM = 5 };
enum { IMAGE_HEIGHT = 1, IMAGE_WIDTH = 2, IMAGE_COLOURS = 3, IMAGE_PNG = 4 };
enum {
    HISTOGRAM_MIN = 1,
    HISTOGRAM_MAX,
    HISTOGRAM_COUNT,
    HISTOGRAM_SUM,
    HISTOGRAM_SQUARES,
    HISTOGRAM_LIMITS,
    HISTOGRAM_BUCKETS
};

enum { BUCKETS = 30, TAG_ROOM = 64 };

/* Messages under construction, from the innermost out. */
enum buffer { PART, VALUE, SUMMARY, EVENT, RECORDS, BUFFERS };

struct ocdm__event_file {
    ocdm__path folder, path;
    int fd; /* -1: not open */
    ocdm__log log;
    double started;       /* when the run would have started had it never stopped, in seconds since 1970 */
    double step, seconds; /* of the last step */
    ocdm__output buffers[BUFFERS];
};

/* Takes the values that were put together as an event of this step; without a step that a run can have, they are dropped. */
static void end_event(ocdm__event_file *file, double step)
{
    ocdm__output *event = &file->buffers[EVENT];
    if (!(step >= 0 && step < 0x1p53))
        file->buffers[SUMMARY].used = 0;
    if (file->buffers[SUMMARY].used == 0)
        return;
    ocdm__proto_double(event, EVENT_WALL_TIME, file->started + file->seconds);
    ocdm__proto_whole(event, EVENT_STEP, (uint64_t)step);
    ocdm__proto_message(event, EVENT_SUMMARY, &file->buffers[SUMMARY]);
    put_record(&file->buffers[RECORDS], event->buffer, event->used);
    event->used = 0;
}

static void add_scalar(ocdm__event_file *file, const char *tag, double value)
{
    ocdm__output *built = &file->buffers[VALUE];
    if (isnan(value))
        return;
    ocdm__proto_text(built, VALUE_TAG, tag);
    ocdm__proto_float(built, VALUE_SIMPLE, (float)value);
    ocdm__proto_message(&file->buffers[SUMMARY], SUMMARY_VALUE, built);
}

/* ---- lines of the log ---------------------------------------------------------------------------------------------------- */

static void add_counts(ocdm__event_file *file, const ocdm__json_node *list)
{
    if (list == NULL || list->kind != OCDM__JSON_ARRAY || list->count == 0)
        return;
    double low = INFINITY, high = 0, sum = 0, squares = 0;
    for (const ocdm__json_node *node = list->first; node != NULL; node = node->next) {
        double value = ocdm__json_number(node);
        low = fmin(low, value);
        high = fmax(high, value);
        sum += value;
        squares += value * value;
    }
    if (!(low >= 0 && high <= UINT32_MAX && sum >= 0)) /* one of them is no count, or no number */
        return;
    /* Samples in memory of each class: buckets of equal width, the last limit above the largest class. */
    double limits[BUCKETS], buckets[BUCKETS] = {0}, width = ceil((high + 1) / BUCKETS);
    ocdm__output *part = &file->buffers[PART], *built = &file->buffers[VALUE];
    for (size_t i = 0; i < BUCKETS; i++)
        limits[i] = width * (double)(i + 1);
    for (const ocdm__json_node *node = list->first; node != NULL; node = node->next)
        buckets[(size_t)(ocdm__json_number(node) / width)]++;
    ocdm__proto_double(part, HISTOGRAM_MIN, low);
    ocdm__proto_double(part, HISTOGRAM_MAX, high);
    ocdm__proto_double(part, HISTOGRAM_COUNT, (double)list->count);
    ocdm__proto_double(part, HISTOGRAM_SUM, sum);
    ocdm__proto_double(part, HISTOGRAM_SQUARES, squares);
    ocdm__proto_doubles(part, HISTOGRAM_LIMITS, limits, BUCKETS);
    ocdm__proto_doubles(part, HISTOGRAM_BUCKETS, buckets, BUCKETS);
    ocdm__proto_text(built, VALUE_TAG, "memory/samples_per_class");
    ocdm__proto_message(built, VALUE_HISTOGRAM, part);
    ocdm__proto_message(&file->buffers[SUMMARY], SUMMARY_VALUE, built);
    add_scalar(file, "memory/smallest_class", low);
    add_scalar(file, "memory/largest_class", high);
}

static void take_step(ocdm__event_file *file, const ocdm__json_node *line)
{
    static const char *const scalars[][2] = {
        {"loss", "loss"}, {"distance", "distance/in_play"}, {"distance_seen", "distance/seen"}, {"kept", "memory/samples"}};
    double seconds = ocdm__json_number(ocdm__json_find(line, "seconds"));
    file->step = ocdm__json_number(ocdm__json_find(line, "step"));
    file->seconds = seconds >= 0 ? seconds : file->seconds;
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++)
        add_scalar(file, scalars[i][1], ocdm__json_number(ocdm__json_find(line, scalars[i][0])));
    add_counts(file, ocdm__json_find(line, "counts"));
    end_event(file, file->step);
}

/* The metrics that tables show, of every group; the mAP of every task. */
static void take_evaluation(ocdm__event_file *file, const ocdm__json_node *line)
{
    char tag[TAG_ROOM];
    const ocdm__json_node *tasks = ocdm__json_find(line, "tasks");
    for (size_t g = 0; g < OCDM__PAPER_GROUPS; g++)
        for (unsigned m = 0; m < OCDM__TABLE_METRICS; m++) {
            const char *metric = ocdm__metric_name((ocdm_metric)m);
            const ocdm__json_node *group = ocdm__json_find(line, ocdm__paper_groups[g]);
            snprintf(tag, sizeof tag, "%s/%s", metric, ocdm__paper_groups[g]);
            add_scalar(file, tag, ocdm__json_number(ocdm__json_find(group, metric)));
        }
    for (const ocdm__json_node *node = tasks != NULL ? tasks->first : NULL; node != NULL; node = node->next) {
        snprintf(tag, sizeof tag, OCDM__MAP_NAME "/task_%.0f", ocdm__json_number(ocdm__json_find(node, "task")));
        add_scalar(file, tag, ocdm__json_number(ocdm__json_find(node, OCDM__MAP_NAME)));
    }
    end_event(file, ocdm__json_number(ocdm__json_find(line, "step")));
}

/* A line that is no JSON is the end of a log that was cut off; the run itself refuses it. */
static ocdm_status read_log(ocdm__event_file *file, ocdm_error *error)
{
    const char *line;
    size_t length;
    for (;;) {
        ocdm__json_tree tree = {.root = NULL};
        OCDM_TRY(ocdm__log_next(&file->log, &line, &length, error));
        if (line == NULL)
            break;
        (void)ocdm__json_tree_parse(&tree, "", line, length, NULL);
        const char *type = ocdm__json_text(ocdm__json_find(tree.root, "type"), "");
        if (strcmp(type, "step") == 0)
            take_step(file, tree.root);
        else if (strcmp(type, "evaluation") == 0)
            take_evaluation(file, tree.root);
        ocdm__json_tree_clear(&tree);
    }
    for (size_t i = 0; i < BUFFERS; i++)
        OCDM_TRY(ocdm__output_check(&file->buffers[i], error));
    return OCDM_OK;
}

/* ---- the file ------------------------------------------------------------------------------------------------------------ */

static ocdm_status append_records(ocdm__event_file *file, ocdm_error *error)
{
    ocdm__output *records = &file->buffers[RECORDS];
    for (size_t at = 0; at < records->used;) {
        ssize_t written = write(file->fd, records->buffer + at, records->used - at);
        if (written < 0 && errno != EINTR)
            return ocdm__fail(error, OCDM_IO, "`ocdm report --tensorboard` writes it again later", "cannot write %s: %s",
                              file->path.text, strerror(errno));
        at += written > 0 ? (size_t)written : 0;
    }
    records->used = 0;
    return OCDM_OK;
}

ocdm_status ocdm__event_file_follow(ocdm__event_file *file, ocdm_error *error)
{
    OCDM_TRY(read_log(file, error));
    return append_records(file, error);
}

static ocdm_status begin(ocdm__event_file *file, const char *folder, ocdm_error *error)
{
    for (size_t i = 0; i < BUFFERS; i++)
        OCDM_TRY(ocdm__output_open_memory(&file->buffers[i], "events", error));
    snprintf(file->folder.text, sizeof file->folder.text, "%s", folder);
    file->path = ocdm__path_in(folder, OCDM__EVENTS_FILE);
    /* When the run would have started had it never stopped: the last line was written `seconds` after that. */
    static const char key[] = "\"seconds\":";
    char tail[OCDM__LOG_TAIL + 1];
    struct stat there;
    double seconds = 0;
    const char *why = ocdm__log_open(&file->log, file->folder.text);
    if (why != NULL || fstat(file->log.fd, &there) != 0)
        return ocdm__fail(error, OCDM_IO, "name the FOLDER of `ocdm run -o FOLDER`", "%s/run.jsonl: %s", file->folder.text,
                          why != NULL ? why : strerror(errno));
    ocdm__log_tail(&file->log, tail);
    for (const char *at = tail; (at = strstr(at, key)) != NULL; at += strlen(key))
        sscanf(at + strlen(key), "%lf", &seconds);
    file->started = (double)there.st_mtime - seconds;
    /* The first record of every file. */
    static const char version[] = "brain.Event:2";
    ocdm__output *event = &file->buffers[EVENT];
    ocdm__proto_double(event, EVENT_WALL_TIME, file->started);
    ocdm__proto_text(event, EVENT_FILE_VERSION, version);
    put_record(&file->buffers[RECORDS], event->buffer, event->used);
    event->used = 0;
    OCDM_TRY(read_log(file, error));
    /* Whole before it takes the place of an earlier one, for a TensorBoard that is reading. */
    ocdm__output made;
    OCDM_TRY(ocdm__output_open_own(&made, file->path.text, error));
    ocdm__output_write(&made, file->buffers[RECORDS].buffer, file->buffers[RECORDS].used);
    OCDM_TRY(ocdm__output_commit(&made, error));
    file->buffers[RECORDS].used = 0;
    file->fd = open(file->path.text, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
    return file->fd >= 0 ? OCDM_OK : ocdm__fail(error, OCDM_IO, "", "cannot write %s: %s", file->path.text, strerror(errno));
}

ocdm_status ocdm__event_file_open(ocdm__event_file **file, const char *folder, ocdm_error *error)
{
    ocdm__event_file *made;
    OCDM_TRY(ocdm__new(&made, 1, sizeof *made, "an event file", error));
    made->fd = made->log.fd = -1;
    ocdm_status status = begin(made, folder, error);
    if (status == OCDM_OK)
        *file = made;
    else
        ocdm__event_file_close(made);
    return status;
}

void ocdm__event_file_close(ocdm__event_file *file)
{
    if (file == NULL)
        return;
    if (file->fd >= 0)
        close(file->fd);
    ocdm__log_close(&file->log);
    for (size_t i = 0; i < BUFFERS; i++)
        ocdm__output_abandon(&file->buffers[i]);
    ocdm__release(file);
}

/* ---- pictures ------------------------------------------------------------------------------------------------------------ */

/* A sheet of tiles; tiles without a sample stay black. */
enum { ACROSS = 8, MOST_TILES = 64, SHEET_WIDTH = ACROSS * OCDM__EVENT_PICTURE };

/* Samples from the first to the last of the list; returns how many tiles were placed. */
static size_t fill_sheet(uint8_t *sheet, const ocdm__json_node *kept, const ocdm__event_pictures *pictures)
{
    uint8_t tile[OCDM__EVENT_PICTURE * OCDM__EVENT_PICTURE * 3];
    size_t placed = 0, wanted = kept->count < MOST_TILES ? kept->count : MOST_TILES, number = 0;
    for (const ocdm__json_node *sample = kept->first; sample != NULL && placed < MOST_TILES; sample = sample->next, number++) {
        const ocdm__json_node *id = ocdm__json_find(sample, "id");
        bool chosen = number * wanted / kept->count != (number + 1) * wanted / kept->count;
        if (chosen && id != NULL && id->text != NULL && pictures->picture(pictures->state, id->text, tile)) {
            size_t place = placed / ACROSS * OCDM__EVENT_PICTURE * SHEET_WIDTH + placed % ACROSS * OCDM__EVENT_PICTURE;
            for (size_t row = 0; row < OCDM__EVENT_PICTURE; row++)
                memcpy(sheet + (place + row * SHEET_WIDTH) * 3, tile + row * OCDM__EVENT_PICTURE * 3,
                       (size_t)OCDM__EVENT_PICTURE * 3);
            placed++;
        }
    }
    return placed;
}

ocdm_status ocdm__event_file_pictures(ocdm__event_file *file, const ocdm__event_pictures *pictures, ocdm_error *error)
{
    ocdm__output *part = &file->buffers[PART], *built = &file->buffers[VALUE];
    ocdm__json_tree kept = {.root = NULL};
    OCDM_TRY(ocdm__json_lines_read(&kept, ocdm__path_in(file->folder.text, "memory.jsonl").text, error));
    uint8_t *sheet = ocdm__allocate((size_t)MOST_TILES / ACROSS * OCDM__EVENT_PICTURE, (size_t)SHEET_WIDTH * 3);
    const size_t tiles = sheet != NULL ? fill_sheet(sheet, kept.root, pictures) : 0;
    ocdm__json_tree_clear(&kept);
    const uint32_t height = (uint32_t)((tiles + ACROSS - 1) / ACROSS) * OCDM__EVENT_PICTURE;
    png_image image = {.version = PNG_IMAGE_VERSION, .width = SHEET_WIDTH, .height = height, .format = PNG_FORMAT_RGB};
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    uint8_t *bytes = tiles > 0 ? ocdm__allocate(size, 1) : NULL;
    ocdm_status status = OCDM_OK;
    if (sheet == NULL ||
        (tiles > 0 && (bytes == NULL || png_image_write_to_memory(&image, bytes, &size, 0, sheet, 0, NULL) == 0))) {
        status = ocdm__fail_memory(error, "a picture");
    } else if (tiles > 0) {
        ocdm__proto_whole(part, IMAGE_HEIGHT, height);
        ocdm__proto_whole(part, IMAGE_WIDTH, SHEET_WIDTH);
        ocdm__proto_whole(part, IMAGE_COLOURS, 3);
        ocdm__proto_bytes(part, IMAGE_PNG, bytes, size);
        ocdm__proto_text(built, VALUE_TAG, "memory/images");
        ocdm__proto_message(built, VALUE_IMAGE, part);
        ocdm__proto_message(&file->buffers[SUMMARY], SUMMARY_VALUE, built);
        end_event(file, file->step);
        status = append_records(file, error);
    }
    OCDM_RELEASE(bytes, sheet);
    return status;
}
