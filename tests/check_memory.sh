#!/usr/bin/env bash
# Memory does not grow with the rows: a million rows against a hundred thousand, and a 300 MB file and pipe under 64 MB.
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
