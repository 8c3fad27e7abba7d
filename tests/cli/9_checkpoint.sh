# 9_checkpoint.sh - runs that are stopped and go on, by the command: what is said, codes, files; weights that run away leave what was there.
"$KLIFT" generate spirals kept.svm --rows 20000 -q
run_kept=("$KLIFT" train kept.svm --features 512 --folds 2 -o kept.klift --checkpoint kept.ckpt)
"$KLIFT" train kept.svm --features 512 --folds 2 -o whole.klift -q >out

expect 2 "--resume needs a checkpoint" "$KLIFT" train kept.svm --resume -o no.klift
says "  and says so" err 'belongs to --checkpoint'
expect 2 "--checkpoint-every must be a time or rows" "${run_kept[@]}" --checkpoint-every often
says "  and shows some" err '30s, 5m or 1h'
expect 2 "the checkpoint is not the model" "$KLIFT" train kept.svm -o kept.ckpt --checkpoint kept.ckpt
expect 5 "a checkpoint needs a folder" "$KLIFT" train kept.svm -o no.klift --checkpoint nowhere/kept.ckpt

expect 0 "--resume without a file starts at the first row" "${run_kept[@]}" --resume
says "  and says so" err 'note: kept.ckpt: no checkpoint yet'
holds "  and leaves the model alone" cmp whole.klift kept.klift
holds "  and no checkpoint" [ ! -e kept.ckpt ]
rm -f kept.klift

# a pipe that waits: the run is stopped between two blocks of rows
mkfifo kept.pipe
(cat kept.svm kept.svm kept.svm kept.svm; exec sleep 60) >kept.pipe &
feeder=$!
"$KLIFT" train - --features 32 --learner sgd --lambda 0.01 -o flow.klift --checkpoint flow.ckpt --checkpoint-every 4096 <kept.pipe >out 2>err &
trainer=$!
for ((i = 0; i < 500; i++)); do [ -e flow.ckpt ] && break || sleep 0.1; done
kill -TERM $trainer
wait $trainer
status=$?
kill $feeder 2>/dev/null
wait $feeder 2>/dev/null
holds "SIGTERM ends a training that waits for rows with 143" [ $status -eq 143 ]
says "  and says where its checkpoint is and how to go on" err "checkpoint is flow.ckpt. To go on, with the same rows on standard input: klift train --resume - --features 32"
holds "  and leaves no model and no other file" [ "$(ls -d flow.*)" = flow.ckpt ]
expect 2 "a checkpoint is not written over" bash -c "'$KLIFT' train - --features 32 --learner sgd --lambda 0.01 -o flow.klift --checkpoint flow.ckpt <kept.svm"
says "  but named" err 'flow.ckpt: there is such a file already; say --resume'
expect 2 "other settings are refused" bash -c "'$KLIFT' train - --features 32 --learner sgd --lambda 0.1 -o flow.klift --checkpoint flow.ckpt --resume <kept.svm"
says "  by name" err 'lambda is 0.1, the checkpoint has 0.01'
expect 3 "other rows are refused" bash -c "tail -n +2 kept.svm | '$KLIFT' train - --features 32 --learner sgd --lambda 0.01 -o flow.klift --checkpoint flow.ckpt --resume"
expect 4 "a checkpoint is no model" "$KLIFT" predict flow.ckpt kept.svm
says "  and the message says what it is" err 'holds a checkpoint, not a model'
cp flow.ckpt flow.copy
expect 5 "a checkpoint that cannot be written is a failure" bash -c "cat kept.svm kept.svm kept.svm kept.svm | (ulimit -f 1; '$KLIFT' train - -q --features 32 --learner sgd --lambda 0.01 -o flow.klift --checkpoint flow.ckpt --checkpoint-every 1 --resume)"
says "  which names it" err 'flow.ckpt: cannot write'
holds "  and leaves the one before" cmp flow.ckpt flow.copy
rm -f flow.copy
holds "  and nothing else" [ "$(ls -d flow.*)" = flow.ckpt ]
expect 0 "the same rows through a pipe again go on" bash -c "cat kept.svm kept.svm kept.svm kept.svm | '$KLIFT' train - --features 32 --learner sgd --lambda 0.01 -o flow.klift --checkpoint flow.ckpt --resume"
says "  behind what had been learnt from" err 'going on from there, behind row [1-9]'
cat kept.svm kept.svm kept.svm kept.svm | "$KLIFT" train - --features 32 --learner sgd --lambda 0.01 -o whole.klift -q >out
holds "  to the same model" cmp whole.klift flow.klift

awk 'BEGIN { srand(1); for (i = 0; i < 9000; i++) { s = i < 5000 ? 1 : 1e9; printf "%f 1:%f 2:%f\n", rand(), s * rand(), s * rand() } }' >wild.svm
echo "the model of yesterday" >wild.klift
expect 1 "weights that run away are a failure, also later on" "$KLIFT" train wild.svm --kernel linear --task regress --learner sgd:step=pegasos --lambda 0.1 -o wild.klift --checkpoint wild.ckpt --checkpoint-every 1
holds "  the model that was there stays" grep -q yesterday wild.klift
holds "  and so does the last checkpoint" [ "$(ls -d wild.c*)" = wild.ckpt ]
