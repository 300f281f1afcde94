/*
 * Pseudo-labels for streams of partial labels (--pseudo P). A class that the stream brought already and that nobody annotated
 * in a sample counts as present in the loss where the averaged model gives it a probability above P. The labels of the stream,
 * the counts n_i of the memory and the weights of classes in the loss stay as they are: the guess is made anew in every step,
 * for new samples and for replayed ones alike.
 */

#include "base/bytes.h"
#include "experiment/loop/run.h"

/* The rows of labels move apart from the last to the first, so that each has room for its pseudo-labels at its end. */
ocdm_status ocdm__add_pseudo_labels(ocdm__run *run, ocdm_error *error)
{
    ocdm__online *online = &run->online;
    ocdm__batch *batch = &online->batch;
    ocdm__label_room *room = &online->labels;
    size_t classes = run->stream->table.class_count, row = ocdm__bits_size(classes), added = 0;
    if (online->guesses == NULL || batch->known == NULL)
        return OCDM_OK;
    /* The logits of the averaged weights; the learner is back at its trained weights afterwards, also after an error. */
    const ocdm__learner *learner = run->learner;
    OCDM_TRY(learner->functions->use(learner->state, 1, error));
    ocdm_status status = learner->functions->predict(learner->state, batch->input, batch->count, online->guesses, error);
    ocdm_status back = learner->functions->use(learner->state, 0, status == OCDM_OK ? error : NULL);
    OCDM_TRY(status);
    OCDM_TRY(back);
    const float least = (float)log(run->settings->pseudo / (1 - run->settings->pseudo)); /* sigmoid(x) > P */
    for (size_t i = 0; i < batch->count; i++)
        for (size_t c = 0; c < classes; c++) {
            float *guess = &online->guesses[i * classes + c];
            bool counts = *guess > least && online->ages[c] > 0 && !ocdm__bits_have(room->known + i * row, c);
            *guess = counts; /* from here on: whether it is a pseudo-label */
            added += counts;
        }
    size_t end = room->starts[batch->count], place = end + added;
    if (!ocdm__reserve(&room->labels, &room->label_room, place + 1, sizeof *room->labels))
        return ocdm__fail_memory(error, "the labels of a batch");
    room->starts[batch->count] = place;
    for (size_t i = batch->count; i-- > 0;) {
        size_t first = room->starts[i], own = end - first;
        for (size_t c = classes; c-- > 0;)
            if (online->guesses[i * classes + c] > 0) {
                room->labels[--place] = (uint32_t)c;
                ocdm__bits_add(room->known + i * row, c);
            }
        place -= own;
        memmove(room->labels + place, room->labels + first, own * sizeof *room->labels);
        end = first;
        room->starts[i] = place;
    }
    batch->labels = room->labels;
    return OCDM_OK;
}
