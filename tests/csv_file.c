/* csv_file.c - see csv_file.h. */
#include "csv_file.h"

#include "base/number.h"
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

char *csv_path;

int csv_make_path(void **unused)
{
    (void)unused;
    csv_path = temp_path("table.csv");
    return 0;
}

void csv_write(const char *bytes, size_t count)
{
    FILE *file = fopen(csv_path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
}

void csv_write_text(const char *text)
{
    csv_write(text, strlen(text));
}

klift_status csv_read_all(kl_reader *reader, int64_t at_most, kl_text *out)
{
    for (;;) {
        kl_batch batch;
        KL_TRY(kl_reader_next(reader, at_most, &batch));
        assert_true(batch.rows <= at_most);
        if (batch.rows == 0)
            return KLIFT_OK;
        assert_int_equal(kl_batch_check(&batch, "the batch"), KLIFT_OK);
        double *row = calloc((size_t)batch.columns + 1, sizeof *row);
        assert_non_null(row);
        for (int64_t i = 0; i < batch.rows; i++) {
            if (batch.label != NULL)
                kl_text_add(out, "%s", batch.label[i]);
            else if (batch.target != NULL)
                kl_text_add_number(out, batch.target[i]);
            else
                kl_text_add(out, "-");
            kl_batch_row_doubles(&batch, i, batch.columns, row);
            for (int64_t j = 0; j < batch.columns; j++) {
                char value[KL_NUMBER_ROOM];
                kl_text_add(out, " ");
                kl_text_add_bytes(out, value, kl_number_print_float((float)row[j], value));
            }
            kl_text_add(out, ";");
        }
        free(row);
    }
}
