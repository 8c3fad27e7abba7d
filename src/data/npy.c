/* npy.c - NumPy's .npy arrays: X (n, d) or (n,), in either order and byte order, and the labels of labels=FILE. */
#include "data/matrix.h"

static klift_status open_array(kl_reader *reader)
{
    kl_matrix *m = reader->state;
    KL_TRY(kl_array_open(&m->x, reader->stream, kl_array_npy));
    return kl_matrix_begin(reader, NULL);
}

const kl_reader_type kl_reader_npy = {
    .name = "npy",
    .summary = "NumPy array X, labels in labels=FILE",
    .listed = true,
    .state_size = sizeof(kl_matrix),
    .detect = kl_is_npy,
    .open = open_array,
    .next = kl_matrix_next,
    .rewind = kl_matrix_rewind,
    .close = kl_matrix_close,
    .reads_stream = true,
};
