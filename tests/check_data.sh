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
objective() { # learner: LIBLINEAR's objective, as train notes it
    "$klift" train adult.train --kernel gaussian:gamma=0.0125 --dim 123 --features 2048 --map fourier --learner "$1" -o adult.klift 2>&1 >/dev/null | sed -n 's/.*objective \([0-9.e+]*\),.*/\1/p'
}
for loss in hinge squared-hinge; do # 1 % of svm's objective in 10 passes
    exact=$(objective svm:loss=$loss) near=$(objective sgd:loss=$loss,passes=10)
    echo "adult: objective of svm $exact, of sgd in 10 passes $near ($loss)"
    awk -v e="$exact" -v n="$near" 'BEGIN { exit !(e > 0 && n > 0 && n <= 1.01 * e) }'
done
measure adult error 3 0.152 --kernel gaussian:gamma=0.0125 --dim 123
measure cpuact relative_rmse 5 0.043 --task regress --prepare standardise --kernel gaussian:gamma=0.005
