#!/usr/bin/env bash
# Memory does not grow with the rows: a million rows against a hundred thousand, and a 300 MB file and pipe under 64 MB. svm has a few
# numbers for every row, and sparse features take what their entries take.
set -eu
klift=$(cd "$(dirname "${KLIFT:-build/klift}")" && pwd)/$(basename "${KLIFT:-build/klift}")
if [ -n "${KLIFT_TEST_QUICK:-}" ]; then
    echo "skipped: memory of long runs (KLIFT_TEST_QUICK)"
    exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
number() { tr ",{" "\n\n" | sed -n "s/.*\"$1\": *\([0-9.e+-]*\).*/\1/p" | head -n 1; }
at_most() { # name value limit
    [ -n "$2" ] || { echo "$1 is unknown"; exit 1; }
    awk -v v="$2" -v l="$3" 'BEGIN { exit !(v <= l) }' || { echo "$1 is $2, above $3"; exit 1; }
}
"$klift" generate friedman small.svm --rows 100000 -q
"$klift" generate friedman large.svm --rows 1000000 -q
for size in small large; do
    "$klift" train $size.svm --task regress --features 128 --json -q -o $size.klift >$size.json
    eval "$size=$(number peak_memory <$size.json)"
done
echo "peak memory: 100,000 rows $small bytes, 1,000,000 rows $large bytes, ratio $(awk "BEGIN { print $large / $small }")"
at_most "memory of a million rows" "$large" "$(awk "BEGIN { print 1.2 * $small }")"
rm -f small.svm large.svm

# Sparse features: hashed in training, all of them as text.
"$klift" generate sparse small.svm --rows 20000 -q
"$klift" generate sparse large.svm --rows 200000 -q
for size in small large; do
    "$klift" train $size.svm --prepare unit --kernel gaussian:gamma=0.5 --map taylor:degree=3 --features 128 --json -q -o $size.klift >$size.json
    eval "$size=$(number peak_memory <$size.json)"
done
echo "hashed products: 20,000 rows $small bytes, 200,000 rows $large bytes"
at_most "memory of hashed products" "$large" "$(awk "BEGIN { print 1.2 * $small }")"
products=$(ulimit -v 400000; "$klift" transform large.svm - --threads 2 --prepare unit --kernel gaussian:gamma=0.5 --map taylor:degree=2,hash=never -q | wc -l)
[ "$products" -eq 200000 ] || { echo "transform within 400 MB of addresses wrote $products of 200000 rows"; exit 1; }
rm -f small.svm large.svm

# svm with features, or rows, in a file: what it knows of a row, the dual variable, length, place, order, target and weight, is 44 bytes,
# and arrays that grow have room to spare.
"$klift" generate friedman small.svm --rows 20000 --dim 40 -q
"$klift" generate friedman large.svm --rows 200000 --dim 40 -q
for features in 128 256; do
    for size in small large; do
        TMPDIR=$dir "$klift" train $size.svm --task regress --learner svm:passes=2,cache=float32 --features $features --max-memory $((features * 6 / 128 + 12))M --json -o $size.klift >$size.json 2>$size.err
        eval "$size=$(number peak_memory <$size.json)"
        kept=$([ $features -eq 128 ] && echo features || echo rows)
        grep -q "the $kept go to a temporary file" $size.err || { echo "$features features of $size.svm: no file of $kept"; exit 1; }
    done
    echo "svm, $kept in a file: 20,000 rows $small bytes, 200,000 rows $large bytes, $(awk "BEGIN { print ($large - $small) / 180000 }") for a row"
    at_most "memory of svm" "$large" $((small + 180000 * 64))
done
rm -f small.svm large.svm

# 200,000 columns with 20 entries in a row: dense features of 50,000 rows would be 40 GB.
"$klift" generate sparse wide.svm --rows 50000 --dim 200000 -q
"$klift" train wide.svm --kernel linear --map identity --learner svm --max-memory 200M --test wide.svm --json -q -o wide.klift >wide.json
peak=$(number peak_memory <wide.json)
echo "svm of 200,000 columns: peak memory $peak bytes"
at_most "memory of 200,000 columns" "$peak" 100000000
rm -f wide.svm

# 16 bits: half of the features' memory, the same errors.
"$klift" generate checkerboard board.svm --rows 60000 -q
"$klift" generate checkerboard test.svm --rows 20000 --seed 2 -q
for cache in float32 bf16 int16; do
    "$klift" train board.svm --kernel gaussian:gamma=10 --features 512 --learner svm:passes=10 --cache $cache --test test.svm --json -q -o board.klift >$cache.json 2>/dev/null
    eval "${cache}_peak=$(number peak_memory <$cache.json) ${cache}_error=$(number error <$cache.json)"
done
# shellcheck disable=SC2154
echo "svm, float32: peak memory $float32_peak bytes, error $float32_error; bf16: $bf16_peak bytes, error $bf16_error; int16: $int16_peak bytes, error $int16_error"
for cache in bf16 int16; do
    eval "peak=\$${cache}_peak error=\$${cache}_error"
    at_most "memory of $cache" "$peak" $((float32_peak - 60000 * 512 * 2 + 8000000))
    at_most "error of $cache" "$error" "$(awk "BEGIN { print $float32_error + 0.002 }")"
done
rm -f board.svm test.svm

"$klift" generate friedman big.svm --rows 1100000 --dim 20 -q
bytes=$(wc -c <big.svm)
[ "$bytes" -ge 300000000 ] || { echo "the file has $bytes bytes only"; exit 1; }
"$klift" train big.svm --task regress --features 64 --json -q -o file.klift >file.json
cat big.svm | "$klift" train - --task regress --features 64 --json -q -o pipe.klift >pipe.json
for way in file pipe; do
    peak=$(number peak_memory <$way.json)
    echo "$bytes bytes from a $way: peak memory $peak bytes"
    at_most "memory from a $way" "$peak" 64000000
done
