#!/usr/bin/env bash
# fuzz/seeds.sh - makes the first inputs of every corpus that has none; KLIFT names the command, python3 packs the archives.
set -eu
cd "$(dirname "$0")"
klift=$(cd .. && cd "$(dirname "${KLIFT:-build/klift}")" && pwd)/$(basename "${KLIFT:-build/klift}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seed() { # TARGET NAME: stdin becomes the file, unless it is there
    mkdir -p "corpus/$1"
    [ -e "corpus/$1/$2" ] || cat >"corpus/$1/$2"
}

printf '1 1:0.5 3:-2e-3\n-1 2:+7 # note\n\n+1 qid:4 1:.25 2:1e10\n' | seed svmlight plain
printf 'cat 0:1 4:2\r\ndog 1:3\r\n' | seed svmlight words
printf '1,2 1:1 2:1\n3.5 4:123456789.123456789\n0' | seed svmlight targets
printf '# only a note\n1 2147483646:1\n' | seed svmlight wide

"$klift" generate spirals "$work/x.npy" --labels "$work/y.npy" --rows 4 -q
seed npy doubles <"$work/x.npy"
seed npy labels <"$work/y.npy"
head_npy() { printf "\\x93NUMPY\\x01\\x00\\x46\\x00{'descr': '%s', 'fortran_order': %s, 'shape': (2, 2), }" "$1" "$2"; printf '%*s\n' "$3" ''; }
{ head_npy '|u1' False 10; printf '\1\2\3\4'; } | seed npy bytes
{ head_npy '>i2' True 11; printf '\0\1\0\2\0\3\0\4'; } | seed npy fortran

printf 'gaussian:gamma=0.5' | seed spec simple
printf 'sum(gaussian:0.5,product(linear,poly:degree=3,offset="a ""b"""),1e-3) : x = -.5e+10 , y=word' | seed spec nested
printf 'format=npy,labels="y, 1.npy",dim=3' | seed spec items

"$klift" generate spirals "$work/s.svm" --rows 60 -q
"$klift" generate friedman "$work/f.svm" --rows 60 -q
"$klift" generate rings "$work/r.svm" --rows 60 -q
for target in model model_round; do
    "$klift" train "$work/s.svm" --features 4 -o "$work/a" -q >/dev/null && seed $target two_classes <"$work/a"
    "$klift" train "$work/s.svm" --features 3 --map fourier:form=phase --prepare standardise -o "$work/b" -q >/dev/null && seed $target phase <"$work/b"
    "$klift" train "$work/f.svm" --task regress --kernel linear --prepare unit-keep-norm -o "$work/c" -q >/dev/null && seed $target linear <"$work/c"
    "$klift" train "$work/f.svm" --task regress --prepare unit --map taylor:degree=3 --features 16 -o "$work/d" -q >/dev/null && seed $target hashed_products <"$work/d"
    "$klift" train "$work/s.svm" --prepare unit --kernel poly:degree=3 --map monomial -o "$work/e" -q >/dev/null && seed $target products <"$work/e"
    "$klift" train "$work/r.svm" --features 4 --code random --bits 5 -o "$work/g" -q >/dev/null && seed $target code <"$work/g"
    "$klift" train "$work/s.svm" --features 4 --lambda 0.1 --probability -o "$work/h" -q >/dev/null && seed $target probability <"$work/h"
done

printf 'a,b,label\n1,2.5,x\n3,,y\n' | seed csv header
printf '"a ""q""";b;c\r\n1,5;red;0\r\n-2;"blue\n2";1\r\n' | seed csv quoted
printf '1\t2\t3\n4\t5\t6' | seed csv tabs
{ printf '\0\0\x08\3\0\0\0\2\0\0\0\2\0\0\0\2'; printf '\1\2\3\4\5\6\7\10'; } | seed idx images
{ printf '\0\0\x08\1\0\0\0\3'; printf '\0\1\2'; } | seed idx labels
{ printf '\0\0\x0d\2\0\0\0\1\0\0\0\1'; printf '\x3f\x80\0\0'; } | seed idx floats
python3 - "$work" <<'PY'
import sys, zipfile
w = sys.argv[1]
for name, how in (("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)):
    with zipfile.ZipFile(f"{w}/{name}", "w", how) as z:
        for member in "xy":
            z.writestr(zipfile.ZipInfo(f"{member}.npy"), open(f"{w}/{member}.npy", "rb").read(), how)
PY
seed npz stored <"$work/stored"
seed npz deflated <"$work/deflated"
text() { printf '1 1:0.5\n-1 2:0.25\n1 1:0.5 2:0.5\n'; }
text | gzip -9n | seed decompress gzip
{ text | gzip -9n; text | gzip -1n; } | seed decompress gzip_members
text | xz -9 | seed decompress xz
text | zstd -q -19 | seed decompress zstd
text | bzip2 | seed decompress bzip2
text | seed decompress plain
