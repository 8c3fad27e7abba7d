#!/usr/bin/env bash
# Every file of every fuzz corpus, seeds and inputs that once broke something, through its target.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build}
count=0
for folder in fuzz/corpus/*/; do
    target=$(basename "$folder")
    replay=$build/fuzz/replay_$target
    [ -x "$replay" ] || { echo "$replay is not built"; exit 1; }
    files=("$folder"*)
    "$replay" "${files[@]}" || { echo "$target: the corpus does not pass"; exit 1; }
    count=$((count + ${#files[@]}))
done
[ $count -gt 0 ] || { echo "no corpus was found"; exit 1; }
echo "$count inputs replayed"
