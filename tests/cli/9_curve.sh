# shellcheck shell=bash disable=SC2154
# 9_curve.sh - models on the way: the curve of their errors, and snapshots of a training that does not end or runs away.
"$KLIFT" generate checkerboard long.svm --rows 20000 -q
"$KLIFT" generate checkerboard held.svm --rows 500 --seed 2 -q
head -n 8192 long.svm >first.svm
short="--kernel gaussian:gamma=2 --map fourier --features 64"

# shellcheck disable=SC2086
expect 0 "a curve of ridge" "$KLIFT" train long.svm $short --test held.svm --curve -o curve.klift
says "  names its rows" out '^curve of held.svm'
holds "  at doubling counts and at the end" bash -c "[ \"\$(sed -n '/^curve/,\$p' out | awk '/^[0-9]/ { printf \"%s \", \$1 }')\" = '4096 8192 16384 20000 ' ]"
# shellcheck disable=SC2086
expect 0 "the same without a curve" "$KLIFT" train long.svm $short -o plain.klift
holds "  is the same model" cmp curve.klift plain.klift
for learner in ridge "sgd --lambda 0.0001"; do
    # shellcheck disable=SC2086
    "$KLIFT" train long.svm $short --learner $learner --test held.svm --curve --json -q -o curve.klift >curve.json
    # shellcheck disable=SC2086
    expect 0 "a training on the first rows, ${learner%% *}" "$KLIFT" train first.svm $short --learner $learner --test held.svm --json -q -o first.klift
    is_json "  has the error that the curve has for them" out "j['test']['error'] == [p['error'] for p in json.load(open('curve.json'))['curve'] if p['rows'] == 8192][0]"
    is_json "  and the curve ends with the error of the model" curve.json "j['curve'][-1] == {'rows': 20000, 'error': j['test']['error']} and len(j['curve']) == 4"
done
# shellcheck disable=SC2086
expect 0 "without a test file the curve is of rows held out" "$KLIFT" train long.svm $short --curve -o curve.klift
says "  and says so" out '^curve of rows held out'
# shellcheck disable=SC2086
expect 2 "or there is none" "$KLIFT" train long.svm $short --lambda 0.1 --curve -o curve.klift
says "  and what to do" err 'give --test FILE'
"$KLIFT" generate friedman numbers.svm --rows 5000 -q
# shellcheck disable=SC2086
expect 0 "a curve of numbers" "$KLIFT" train numbers.svm --map fourier --features 64 --test numbers.svm --curve -o curve.klift
says "  has their rmse" out '^rows +rmse'
expect 2 "a curve of svm is refused" "$KLIFT" train first.svm --features 8 --learner svm --test held.svm --curve -o curve.klift
expect 2 "a curve with -v too" "$KLIFT" train first.svm --features 8 --curve -v 5
expect 2 "a test file that can be read once has no curve" "$KLIFT" train first.svm --features 8 --curve --test - -o curve.klift
expect 3 "a test file without rows is told on the way" bash -c "touch none.svm; '$KLIFT' train long.svm --features 8 --curve --test none.svm -o curve.klift"

# Snapshots: a writer that does not end, a reader that looks all the time, and at the end a signal.
mkfifo endless
(while cat first.svm; do :; done) >endless 2>/dev/null &
writer=$!
# shellcheck disable=SC2086
"$KLIFT" train - $short --learner sgd --lambda 0.0001 --snapshot-every 5000 -q -o snapshot.klift <endless 2>err &
trainer=$!
for _ in $(seq 200); do [ -e snapshot.klift ] && break; sleep 0.05; done
whole=0
for _ in $(seq 10); do "$KLIFT" inspect snapshot.klift >/dev/null 2>&1 && whole=$((whole + 1)); done
kill -TERM $trainer
wait $trainer
status=$?
wait $writer 2>/dev/null
holds "a reader sees whole models while an endless training writes them" [ $whole -eq 10 ]
holds "  which a signal ends as every training" [ $status -eq 143 ]
expect 0 "  and the last one stays" "$KLIFT" test snapshot.klift held.svm
holds "  with nothing beside it" bash -c '[ "$(ls -- *snapshot.klift* | wc -l)" -eq 1 ]'

# Weights that run away behind good rows.
"$KLIFT" generate friedman tame.svm --rows 4096 -q
(cat tame.svm; sed 's/:/:9999999/g' tame.svm) >wild.svm
linear="--kernel linear --task regress --learner sgd:step=pegasos --lambda 1 -q"
# shellcheck disable=SC2086
expect 1 "weights that run away" "$KLIFT" train wild.svm $linear --snapshot-every 1000 -o wild.klift
says "  are told" err 'ran away'
# shellcheck disable=SC2086
expect 0 "  and the last good model" "$KLIFT" train tame.svm $linear -o tame.klift
holds "  is there" cmp wild.klift tame.klift
expect 2 "snapshots of svm are refused" "$KLIFT" train first.svm --features 8 --learner svm --snapshot-every 100 -o no.klift
expect 2 "snapshots every 0 rows are refused" "$KLIFT" train first.svm --features 8 --snapshot-every 0 -o no.klift
says "  with what it must be" err 'at least 1'
expect 2 "snapshots with -v are refused" "$KLIFT" train first.svm --features 8 --snapshot-every 100 -v 5
expect 5 "a snapshot that cannot be written ends the training" bash -c "mkdir -p shut; cd shut; ln -sf /dev/full m.klift; '$KLIFT' train ../long.svm --features 8 --snapshot-every 4096 -o m.klift"
