#!/usr/bin/env bash
# The layers of docs/architecture.md: include rightwards only, never sideways; and the house rules a grep can see.
set -u
cd "$(dirname "$0")/.." || exit 1
bad=0
complain() { echo "$1"; bad=1; }

# level of a folder: a file may include its own folder and lower levels
level() {
    case $1 in
    cli) echo 9 ;; api) echo 8 ;; pipeline) echo 7 ;; report) echo 6 ;; model) echo 5 ;; learn | map) echo 4 ;;
    kernel) echo 3 ;; data) echo 2 ;; math | comm) echo 1 ;; base) echo 0 ;; *) echo "?" ;;
    esac
}
place() { # folder of a source file; the files of src/ itself are layers of their own
    case $1 in
    src/pipeline.* | src/pipeline_* | src/warm.* | src/watch.*) echo pipeline ;; src/api.c | src/list.* | src/doctor.*) echo api ;; src/*/*) echo "$1" | cut -d/ -f2 ;; cli/*) echo cli ;;
    esac
}
for file in $(find src cli -name '*.[ch]' | sort); do
    from=$(place "$file")
    for include in $(sed -n 's/^#include "\(.*\)"/\1/p' "$file"); do
        case $include in
        klift.h) continue ;;
        pipeline.h | warm.h | watch.h) to=pipeline ;; list.h | doctor.h) to=api ;;
        */*) to=${include%%/*} ;;
        *) to=$from ;; # a header beside the file
        esac
        if [ "$from" = cli ] && [ "$to" != cli ]; then
            complain "$file includes $include: the command sees klift.h only"
        elif [ "$(level "$to")" = "?" ]; then
            complain "$file includes $include: unknown layer"
        elif [ "$from" != "$to" ] && [ "$(level "$from")" -le "$(level "$to")" ]; then
            complain "$file includes $include: $from may not include $to"
        fi
    done
done

grep -nE '\b(malloc|calloc|realloc|aligned_alloc)\(' $(find src -name '*.c' ! -path src/base/memory.c) && complain "allocation outside base/memory.c"
grep -nE '\b(printf|puts|exit|abort|signal|setlocale)\(' $(find src -name '*.c') && complain "the library prints, exits, catches signals or sets the locale"
grep -nE '\brand\(|#pragma omp' $(find src -name '*.c') && complain "libc's generator or OpenMP"
grep -lE '#include <mpi.h>' $(find src -name '*.[ch]' ! -path src/comm/mpi.c) && complain "mpi.h outside comm/mpi.c"

# exported symbols are the public ones
if [ -f "${BUILD:-build}/libklift.so" ]; then
    nm -D --defined-only "${BUILD:-build}/libklift.so" | awk '$2 ~ /[TDBR]/ {print $3}' | grep -vE '^klift_|^__|^_init|^_fini|asan|ubsan|tsan|gcov|mangle_path' && complain "libklift.so exports names that are not klift_"
fi
[ $bad -eq 0 ] && echo "layers: clean"
exit $bad
