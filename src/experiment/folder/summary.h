/* summary.json and memory.jsonl: what a run came to. docs/run-files.md tells the members. */
#ifndef OCDM_EXPERIMENT_FOLDER_SUMMARY_H
#define OCDM_EXPERIMENT_FOLDER_SUMMARY_H

#include "base/output.h"
#include "experiment/loop/run.h"
#include "ocdm/ocdm.h"

/* The whole summary, one object and a newline. The run is finished. OCDM_OK, OCDM_NO_MEMORY; write errors stay in `output`. */
ocdm_status ocdm__summary_write(ocdm__output *output, const ocdm__run *run, ocdm_error *error);

/* What the memory holds, a line each; nothing without a memory. */
void ocdm__kept_samples_write(ocdm__output *output, const ocdm__run *run);

/* The members `program`, `settings` and `stream`, without braces: what tells a run from another. */
void ocdm__summary_head_write(ocdm__output *output, const ocdm__run *run);

/* The stream and its classes as JSON: summary_stream.c. */
void ocdm__stream_about_write(ocdm__output *output, const ocdm__stream *stream, size_t task_count);
ocdm_status ocdm__stream_classes_write(ocdm__output *output, const ocdm__run *run, ocdm_error *error);

/* The machine: CPU, cores, threads that were asked for, system. */
void ocdm__environment_write(ocdm__output *output, unsigned threads);

#endif
