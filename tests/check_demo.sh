#!/usr/bin/env bash
# scripts/demo ends well, tells its story with the errors it is about, keeps to 60 columns, and colours a terminal only. With
# KLIFT_DATA its MNIST command is run as it stands.
set -u
klift=$(cd "$(dirname "${KLIFT:-build/klift}")" && pwd)/$(basename "${KLIFT:-build/klift}")
cd "$(dirname "$0")/.." || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
bad=0
complain() { echo "$1"; bad=1; }
escape=$(printf '\033')
unset NO_COLOR
export BUILD TMPDIR=$dir
BUILD=$(dirname "$klift")

COLUMNS=60 scripts/demo >"$dir/story" 2>"$dir/said" || complain "the demo fails"
[ ! -s "$dir/said" ] || complain "the demo writes to standard error: $(head -n 3 "$dir/said")"
[ -z "$(find "$dir" -name 'klift-demo*')" ] || complain "the demo leaves its folder behind"
grep -v "^  $BUILD/klift" "$dir/story" | awk 'length > 60' >"$dir/long" # BUILD may be a long path
[ ! -s "$dir/long" ] || complain "lines are longer than 60 columns: $(head -n 3 "$dir/long")"
! grep -q "$escape" "$dir/story" || complain "colours in a file"
errors=$(sed -n 's/.*wrong on \([0-9.]*\) % of the new.*/\1/p' "$dir/story" | tr '\n' ' ')
awk -v e="$errors" 'BEGIN { exit !(split(e, v, " ") == 2 && v[1] > 30 && v[2] < 1) }' || complain "the errors are '$errors', not one above 30 % and one below 1 %"
for word in "^  survey  *[0-9]" "^  statistics  *[0-9]" "^  search  *[0-9]" "^  solve  *[0-9]" "-o mnist" "$BUILD/klift doctor"; do
    grep -q -e "$word" "$dir/story" || complain "the demo does not tell of $word"
done

# on_terminal SETTING: the demo on a terminal of 60 columns
on_terminal() { TERM=xterm SHELL=/bin/sh script -qec "stty cols 60 rows 24; env -u COLUMNS $1 scripts/demo" /dev/null </dev/null 2>&1; }
if [ -n "${KLIFT_TEST_QUICK:-}" ]; then
    echo "skipped: the demo on a terminal (KLIFT_TEST_QUICK)"
elif SHELL=/bin/sh script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    on_terminal KLIFT_DEMO=1 >"$dir/screen" || complain "the demo fails on a terminal"
    grep -q "$escape\[1m1. The data" "$dir/screen" || complain "no colour on a terminal"
    on_terminal NO_COLOR=1 >"$dir/screen" || complain "the demo fails on a terminal with NO_COLOR"
    ! grep -q "$escape\[[0-9;]*m" "$dir/screen" || complain "colours in spite of NO_COLOR"
    sed "s/.*$escape\[K//; s/\r//g" "$dir/screen" | grep -v "^  $BUILD/klift" | awk 'length > 60' >"$dir/long"
    [ ! -s "$dir/long" ] || complain "lines are longer than the terminal: $(head -n 3 "$dir/long")"
else
    echo "skipped: the demo on a terminal: script(1) or a pseudo-terminal is not there"
fi

files="train-images-idx3-ubyte train-labels-idx1-ubyte t10k-images-idx3-ubyte t10k-labels-idx1-ubyte"
if [ -n "${KLIFT_DATA:-}" ] && [ -e "$KLIFT_DATA/mnist/train-images-idx3-ubyte" ] && [ -z "${KLIFT_TEST_QUICK:-}" ]; then
    mkdir "$dir/mnist"
    for file in $files; do gzip -c "$KLIFT_DATA/mnist/$file" >"$dir/mnist/$file.gz"; done
    sed -n '/train train-images/,/-o mnist/p' "$dir/story" >"$dir/command"
    (cd "$dir/mnist" && sh -e "$dir/command") >"$dir/result" 2>&1 || complain "the MNIST command fails: $(tail -n 3 "$dir/result")"
    error=$(sed -n 's/^error  *\([0-9.]*\) %/\1/p' "$dir/result")
    awk -v e="${error:-100}" 'BEGIN { exit !(e > 2.6 && e < 3.4) }' || complain "MNIST: an error of '$error' %, not about 3 %"
else
    echo "skipped: the demo's MNIST command (set KLIFT_DATA to a folder with mnist/)"
fi
[ $bad -eq 0 ] && echo "demo: right"
exit $bad
