/* writer.h - rows to a file: svmlight text or NPY, written beside the target and renamed when whole. */
#ifndef KL_WRITER_H
#define KL_WRITER_H

#include "data/reader.h"

/* Writes every remaining row; options: format=svmlight|npy (default: by suffix, else svmlight), labels="FILE" (npy only:
 * targets as float64 (rows,) or (rows, targets); text labels as bytes). "-" writes svmlight to stdout. */
klift_status kl_writer_save(kl_reader *reader, const char *path, const char *options, klift_run *run);

/* Atomic files: everything klift writes goes through these. finish: fsync, rename, fsync of the folder. */
typedef struct kl_file kl_file;
klift_status kl_file_create(const char *path, kl_file **file); /* "-" is stdout */
klift_status kl_file_write(kl_file *file, const void *bytes, int64_t count);
klift_status kl_file_patch(kl_file *file, int64_t offset, const void *bytes, int64_t count); /* not on stdout */
klift_status kl_file_finish(kl_file *file); /* the file takes its name; frees */
void kl_file_abandon(kl_file *file);        /* removes the temporary; frees; NULL is fine */

#endif
