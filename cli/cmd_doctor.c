/* cmd_doctor.c - klift doctor: what runs here and how fast, measured at this moment. */
#include "commands.h"

#include "describe.h"
#include "job.h"
#include "layout.h"
#include "progress.h"

#include <stdlib.h>

static klift_status run(const options *given)
{
    klift_run *run = NULL;
    char *about = NULL;
    klift_status status;
    CLI_GO(job_run(given, &run));
    CLI_GO(describe_doctor(run, &about));
    if (options_has(given, "json"))
        puts(about);
    else
        layout_json(about, 0, stdout);
done:
    free(about);
    job_end(run);
    return status;
}

const cli_command cmd_doctor = {
    .name = "doctor",
    .arguments = "[options]",
    .summary = "what runs here and how fast, measured now",
    .detail = "Names the CPU, the inner loops in use (KLIFT_SIMD=portable|avx2|avx512 overrides), threads and memory limit, and measures block products, cosines, "
              "transforms and memory on one thread and on all. Nothing that klift computes depends on these numbers.",
    .examples = "  klift doctor\n"
                "  klift doctor --threads 1 --json\n",
    .least = 0,
    .most = 0,
    .run = run,
};
