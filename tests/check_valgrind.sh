#!/usr/bin/env bash
# One train, test and predict under valgrind: no error, no leak.
set -eu
klift=$(cd "$(dirname "${KLIFT:-build/klift}")" && pwd)/$(basename "${KLIFT:-build/klift}")
if ! command -v valgrind >/dev/null || nm "$klift" | grep -qE '__asan_init|__tsan_init'; then
    echo "skipped: valgrind is not installed, or the build has a sanitizer of its own"
    exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
check() { valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=all --errors-for-leak-kinds=all "$klift" "$@" >/dev/null; }
"$klift" generate rings train.svm --rows 600 -q
check train train.svm --features 40 --threads 2 --prepare standardise -o rings.klift -q
check test rings.klift train.svm -q
check predict rings.klift train.svm out -q
check transform --model rings.klift train.svm out.npy -q
check list
echo "valgrind: clean"
