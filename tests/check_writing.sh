#!/usr/bin/env bash
# What is written is the old file or the new one: full disks, file size limits, read-only folders, links, twenty writers.
set -u
. "$(dirname "$0")/holds.sh"
klift=$(cd "$(dirname "${KLIFT:-build/klift}")" && pwd)/$(basename "${KLIFT:-build/klift}")
dir=$(mktemp -d) || exit 1
mounted=()
leave() {
    for place in "${mounted[@]}"; do umount "$place"; done
    rm -rf "$dir"
}
trap leave EXIT
cd "$dir" || exit 1
# fails CODE SENTENCE COMMAND...: the exit code, and one line that says why
fails() {
    local code=$1 sentence=$2 got
    shift 2
    "$@" >out 2>err </dev/null
    got=$?
    holds "$sentence (exit $got)" [ $got -eq "$code" ]
    [ "$code" -eq 0 ] || holds "$sentence, and says why: $(tail -n 1 err)" grep -q '^klift: ' err
}
no_temporary() { [ -z "$(find "$1" -name '*.tmp*')" ]; }
# untouched SENTENCE FOLDER: the small model is still in it, and nothing beside it
untouched() {
    holds "$1: the old model is intact" cmp small.klift "$2/m.klift"
    holds "$1: no temporary is left" no_temporary "$2"
}

awk 'BEGIN { srand(1); for (i = 0; i < 200; i++) printf "%d 1:%f 2:%f 3:%f\n", i % 10, rand() + i % 10, rand(), rand() }' >train.svm
train() { "$klift" train train.svm --lambda 0.01 -q "$@"; }
train --features 16 -o small.klift >/dev/null || exit 1
train --features 1024 -o large.klift >/dev/null || exit 1
holds "the large model is above the limits used here" [ "$(wc -c <large.klift)" -gt 70000 ]

fails 5 "a model to a full device" train --features 16 -o /dev/full
fails 5 "predictions to a full device" "$klift" predict small.klift train.svm /dev/full
fails 5 "predictions to a full standard output" bash -c "'$klift' predict small.klift train.svm -q >/dev/full"
fails 5 "generated rows to a full device" "$klift" generate spirals /dev/full -q

mkdir sized && cp small.klift sized/m.klift
fails 5 "a model above the file size limit" bash -c "ulimit -f 40; '$klift' train train.svm --lambda 0.01 -q --features 1024 -o sized/m.klift"
untouched "file size limit" sized

mkdir full
if mount -t tmpfs -o size=64k tmpfs full 2>/dev/null; then
    mounted+=("$dir/full")
    cp small.klift full/m.klift
    fails 5 "a model to a full disk" train --features 1024 -o full/m.klift
    untouched "full disk" full
    fails 5 "rows to a full disk" "$klift" generate spirals full/rows.svm --rows 10000 -q
    holds "full disk: no half file is left" [ ! -e full/rows.svm ]
    mount -o remount,ro full
    fails 5 "a model to a read-only disk" train --features 16 -o full/m.klift
    untouched "read-only disk" full
else
    echo "skipped: a small tmpfs may not be mounted here"
fi
mkdir locked && cp small.klift locked/m.klift && chmod a-w locked
if [ "$(id -u)" -ne 0 ]; then
    fails 5 "a model to a read-only folder" train --features 16 -o locked/m.klift
    untouched "read-only folder" locked
else
    echo "skipped: a folder is never read-only for root"
fi

mkdir real && cp small.klift real/m.klift && ln -s real/m.klift link.klift
train --features 32 -o link.klift >/dev/null
holds "a link stays a link" [ -L link.klift ]
holds "the file behind the link is the new one" [ "$(wc -c <real/m.klift)" -gt "$(wc -c <small.klift)" ]
holds "no temporary is left beside either" no_temporary .

# Twenty writers, one name; a reader sees a whole model every time.
mkdir many && cp small.klift many/m.klift
for i in $(seq 20); do
    for again in 1 2 3 4 5; do train --features 64 --seed "$i" --threads 1 -o many/m.klift >/dev/null 2>&1; done &
done
reads=0
while [ -n "$(jobs -r)" ]; do
    "$klift" inspect many/m.klift >/dev/null 2>err || { holds "a reader among writers: $(cat err)" false; break; }
    reads=$((reads + 1))
done
wait
holds "a reader among twenty writers loads a whole model $reads times" [ $reads -gt 0 ]
for i in $(seq 20); do
    train --features 64 --seed "$i" -o "seed$i.klift" >/dev/null
    cmp -s "seed$i.klift" many/m.klift && winner=$i
done
holds "what remains is the model of one writer" [ -n "${winner:-}" ]
holds "no temporary is left by twenty writers" no_temporary many

awk 'BEGIN { for (i = 0; i < 200000; i++) printf "1 1:%d 2:1\n", i % 7 }' >long.svm
"$klift" predict small.klift long.svm -q 2>err | head -n 1 >out
code=${PIPESTATUS[0]}
holds "a closed pipe ends predict quietly (exit $code)" [ "$code" -eq 141 -o "$code" -eq 0 ]
holds "a closed pipe is not complained about: $(cat err)" [ ! -s err ]
train --features 16 -o pipe.klift 2>err | true
holds "a closed pipe leaves the model whole" cmp pipe.klift small.klift
exit $bad
