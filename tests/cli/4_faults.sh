# 4_faults.sh - every exit code: settings, data, models, files, memory, signals.
expect 2 "an unknown kernel is a usage error" "$KLIFT" train --kernel gausian train.svm
says "an unknown kernel is answered with the nearest" err "gaussian"
expect 2 "an unknown parameter is a usage error" "$KLIFT" train --kernel gaussian:gama=1 train.svm
says "an unknown parameter is answered with the nearest" err "gamma"
expect 2 "a parameter of the wrong type is a usage error" "$KLIFT" train --kernel gaussian:gamma=wide train.svm
expect 2 "a number out of range is a usage error" "$KLIFT" train --features 0 train.svm
expect 2 "a setting of the wrong type is a usage error" "$KLIFT" train --features many train.svm
expect 2 "an unknown map is a usage error" "$KLIFT" train --map furier train.svm
expect 2 "an unknown learner is a usage error" "$KLIFT" train --learner rigde train.svm
expect 2 "an unknown format is a usage error" "$KLIFT" train --format svmlite train.svm
expect 2 "a bad number of threads is a usage error" "$KLIFT" train --threads none train.svm

bad() { # NAME SENTENCE LINE...: a file of two good rows and then LINE
    local name=$1 sentence=$2
    shift 2
    { printf '1 1:1 2:2\n-1 1:2 2:1\n'; printf "$@"; } >"$name.svm"
    expect 3 "$sentence" "$KLIFT" train "$name.svm" --features 16 -o "$name.klift"
    holds "$sentence: no model is written" [ ! -e "$name.klift" ]
}
bad nan "NaN in the data is an error" '1 1:nan\n'
says "NaN is answered with file, line and column" err 'nan\.svm:3:'
bad inf "infinity in the data is an error" '1 1:inf\n'
bad word "a word for a number is an error" '1 1:abc\n'
bad twice "a column given twice is an error" '1 1:1 1:2\n'
bad down "descending columns are an error" '1 2:1 1:2\n'
bad colon "a missing colon is an error" '1 1 2\n'
bad csv "CSV is an error that says so" '1,2,3\n'
awk 'BEGIN { for (i = 0; i < 100; i++) print i % 2, "1:" (i % 2 ? 1 : -1) "e38", "2:" i % 3 "e38" }' >huge.svm
expect 3 "rows near the largest float32 are refused by maps of frequencies" "$KLIFT" train huge.svm --kernel gaussian:gamma=1 --features 16 -o huge.klift
says "and told how to be scaled" err '--prepare maxnorm'
expect 0 "scaled they are trained on" "$KLIFT" train huge.svm --prepare maxnorm --features 16 -o huge.klift
printf '1 1:1 2:2\n1 1:2 2:1\n' >one-class.svm
expect 3 "one class is an error" "$KLIFT" train one-class.svm --features 16
: >empty.svm
expect 3 "no rows to train on are an error" "$KLIFT" train empty.svm
expect 3 "no rows to predict are an error" "$KLIFT" predict m.klift empty.svm
expect 3 "no rows to test on are an error" "$KLIFT" test m.klift empty.svm
printf '1 1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1 10:1 99:1\n' >wide.svm
expect 3 "rows wider than the model are an error" "$KLIFT" predict m.klift wide.svm
expect 5 "a missing data file is an I/O error" "$KLIFT" train nowhere.svm
says "a missing file is named" err 'nowhere\.svm'
mkdir -p a-folder
"$KLIFT" train a-folder -o f.klift >out 2>err; status=$?
holds "a folder as data is an error" [ $status -eq 3 -o $status -eq 5 ]
says "a folder is said to be one" err 'director|folder'
expect 5 "a missing model is an I/O error" "$KLIFT" predict nowhere.klift test.svm
expect 4 "a model that is none is a model error" "$KLIFT" predict train.svm test.svm
size=$(wc -c <m.klift)
for part in 8 9 $((size / 2)) $((size - 1)); do
    head -c "$part" m.klift >cut.klift
    expect 4 "a model cut after $part bytes is a model error" "$KLIFT" predict cut.klift test.svm
done
cp m.klift flipped.klift
printf 'X' | dd of=flipped.klift bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
cmp -s m.klift flipped.klift || expect 4 "a damaged model is a model error" "$KLIFT" inspect flipped.klift
expect 6 "a memory limit that cannot be kept is a memory error" "$KLIFT" train train.svm --features 16384 --max-memory 20M -o big.klift

{ awk 'BEGIN { for (i = 0; i < 17000; i++) print i % 2, "1:" (i % 7) / 7 + 0.1, "2:0.5" }'; echo '1 1:0.5 900000:1'; } >late.svm
expect 3 "an index beyond the width of a pipe's first rows is a data error" sh -c 'cat late.svm | "$1" train - -o late.klift --features 64' sh "$KLIFT"
holds "and it names its line" grep -q '17001' err

if [ -w /dev/full ]; then
    for command in "predict m.klift test.svm" "inspect m.klift" "test m.klift test.svm" "list" "--help" "train --help" "generate spirals -" \
        "train train.svm --features 16 -o full.klift" "transform --model m.klift test.svm -" "predict m.klift test.svm /dev/full"; do
        # shellcheck disable=SC2086
        "$KLIFT" $command >/dev/full 2>err
        status=$?
        if [ $status -eq 5 ] && grep -q '^klift: ' err; then ok "a full disk fails: $command"; else not_ok "a full disk fails: $command" "exit $status" "$(tail -n 2 err)"; fi
    done
    "$KLIFT" train train.svm -o /dev/full --features 16 >out 2>err
    holds "a model to a full disk fails" [ $? -eq 5 ]
else
    skip "a full disk (no /dev/full)"
fi
(ulimit -f 2; "$KLIFT" predict --scores m.klift many.svm limited.txt >out 2>err); status=$?
holds "a file-size limit is an I/O error" [ $status -eq 5 ]
holds "and leaves no file" [ -z "$(ls limited.txt* 2>/dev/null)" ]
limited() { # KILOBYTES SENTENCE COMMAND...: files may not become larger; nothing is left, and the reason is said
    local most=$1 sentence=$2
    shift 2
    mkdir -p limited && rm -f limited/*
    expect 5 "$sentence" bash -c "ulimit -f $most; "'exec "$@"' bash "$@"
    says "$sentence: the reason is said" err '(cannot write it|cannot write): File too large'
    holds "$sentence: no model and no temporary file is left" no_file limited
}
limited 8 "a file-size limit that the model is above is an I/O error" "$KLIFT" train train.svm --features 2048 -q -o limited/m.klift
limited 4000 "a file-size limit that features in a file are above is an I/O error" env TMPDIR="$PWD/limited" \
    sh -c 'cat spiral.svm | "$1" train - --learner svm:passes=2 --kernel gaussian:gamma=40 --features 128 --max-memory 12M -q -o limited/m.klift' sh "$KLIFT"
says "and what to do" err 'the temporary file for the features: cannot write it: File too large; set TMPDIR to a folder with room, or allow more memory$'
"$KLIFT" predict m.klift test.svm >&- 2>err; status=$?
holds "a closed stdout is an I/O error" [ $status -eq 5 ]
"$KLIFT" predict m.klift test.svm 2>&- >out; status=$?
holds "a closed stderr harms nothing" cmp out labels

"$KLIFT" generate spirals long.svm --rows 200000 --seed 4 -q
for signal in INT:130 TERM:143; do
    mkdir -p stopped && rm -f stopped/*
    timeout --preserve-status -s "${signal%:*}" 1 "$KLIFT" train long.svm --features 4096 -o stopped/m.klift >out 2>err
    status=$?
    holds "SIG${signal%:*} ends train with ${signal#*:}" [ $status -eq "${signal#*:}" ]
    holds "SIG${signal%:*} leaves no model and no temporary file" no_file stopped
    holds "SIG${signal%:*} prints no result" [ ! -s out ]
done
sleep 5 | timeout --preserve-status -s INT 0.5 "$KLIFT" predict m.klift - >out 2>err
holds "SIGINT ends a wait for stdin" [ "${PIPESTATUS[1]}" -eq 130 ]

expect 0 "train --verbose shows the memory plan" "$KLIFT" train train.svm --features 128 --verbose -o plan.klift
says "the plan has the statistics and how lambda is found" err 'memory for 128 features: 5 sets of statistics \(lambda by folds\) [0-9.]+ MB'
says "the plan has the block, the kept rows and the map" err 'a block of 4096 rows [0-9.]+ MB, packed rows [0-9.]+ MB, [0-9]+ kept rows [0-9.]+ MB, their features [0-9.]+ MB, the map [0-9.]+ MB'
says "the plan has the total and the limit" err '[0-9.]+ MB of [0-9]+ MB in all'
holds "the plan comes before the rows are learnt from" [ -z "$(sed '/ in all$/q' err | grep '^klift: statistics')" ]
expect 6 "a plan above the limit is refused" "$KLIFT" train train.svm --features 4096 --max-memory 100M -o refused.klift
says "the refusal has the numbers" err '4096 features need [0-9]+ MB, the limit is 105 MB'
says "the refusal has the parts" err 'of statistics .* MB, the solution'
printf '1 1:1\n2 bad\n' >bad.svm
expect 6 "a plan above the limit is refused before the rows are read" "$KLIFT" train bad.svm --features 4096 --max-memory 100M -o refused.klift
holds "a refused plan leaves no model" [ ! -e refused.klift ]
