/* writer.h - rows to a file: svmlight text or NPY, written beside the target and renamed when whole. */
#ifndef KL_WRITER_H
#define KL_WRITER_H

#include "data/file.h"
#include "data/reader.h"

/* Writes every remaining row; options: format=svmlight|npy (default: by suffix, else svmlight), labels="FILE" (npy only:
 * targets as float64 (rows,) or (rows, targets); text labels as bytes). "-" writes svmlight to stdout. */
klift_status kl_writer_save(kl_reader *reader, const char *path, const char *options, klift_run *run);

#endif
