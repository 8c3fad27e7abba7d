#!/usr/bin/env bash
# Accuracy on real data, when KLIFT_DATA names a folder with adult/ and cpuact/ (train.svm and test.svm, or .xz of them).
set -eu
klift=$(cd "$(dirname "${KLIFT:-build/klift}")" && pwd)/$(basename "${KLIFT:-build/klift}")
data=${KLIFT_DATA:-}
if [ -z "$data" ] || [ ! -d "$data/adult" ] || [ ! -d "$data/cpuact" ]; then
    echo "skipped: accuracy on adult and cpuact (set KLIFT_DATA to their folder)"
    exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for set in adult cpuact; do
    for part in train test; do
        if [ -f "$data/$set/$part.svm" ]; then cp "$data/$set/$part.svm" "$dir/$set.$part"; else xz -dc "$data/$set/$part.svm.xz" >"$dir/$set.$part"; fi
    done
done
cd "$dir"
median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
measure() { # name key seeds limit options...
    local name=$1 key=$2 seeds=$3 limit=$4 seed value
    shift 4
    for seed in $(seq "$seeds"); do
        "$klift" train "$name.train" "$@" --features 2048 --seed "$seed" -o "$name.klift" -q >/dev/null
        "$klift" test "$name.klift" "$name.test" --json -q | tr ',{' '\n\n' | sed -n "s/.*\"$key\": *\([0-9.e+-]*\).*/\1/p" | head -n 1
    done >"$name.values"
    value=$(median <"$name.values")
    echo "$name: $key $(tr '\n' ' ' <"$name.values")median $value, at most $limit"
    awk -v v="$value" -v l="$limit" 'BEGIN { exit !(v != "" && v <= l) }'
}
measure adult error 3 0.152 --kernel gaussian:gamma=0.0125 --dim 123
measure cpuact relative_rmse 5 0.043 --task regress --prepare standardise --kernel gaussian:gamma=0.005
