/* file.h - atomic files: everything klift writes goes through these. finish: fsync, rename, fsync of the folder. */
#ifndef KL_FILE_H
#define KL_FILE_H

#include "base/error.h"

typedef struct kl_file kl_file;
klift_status kl_file_create(const char *path, kl_file **file); /* "-" is stdout */
klift_status kl_file_write(kl_file *file, const void *bytes, int64_t count);
klift_status kl_file_patch(kl_file *file, int64_t offset, const void *bytes, int64_t count); /* not on stdout */
klift_status kl_file_finish(kl_file *file); /* the file takes its name; frees */
void kl_file_abandon(kl_file *file);        /* removes the temporary; frees; NULL is fine */
klift_status kl_file_save(const char *path, const void *bytes, int64_t count); /* all of it at once */
/* Removes the temporaries that killed processes left beside path; only for whoever knows that nobody writes it now. */
void kl_file_sweep(const char *path);

#endif
