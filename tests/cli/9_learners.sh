# 9_learners.sh - logistic, sgd and doubly-stochastic by the command: probabilities, a pipe, weights that run away, what is refused.
expect 0 "logistic trains" "$KLIFT" train train.svm --features 64 --learner logistic -c 10 -o logistic.klift
says "  and tells its passes" err 'gradient .* passes'
says "  and that its scores are logarithms of odds" out '^probability +of the scores'
expect 0 "its model has probabilities without being asked for them" "$KLIFT" predict --probability logistic.klift test.svm
expect 0 "and a log loss" "$KLIFT" test logistic.klift test.svm
says "  which is printed" out '^log loss'
expect 2 "logistic is for classes" "$KLIFT" train train.svm --features 64 --learner logistic --task regress -o no.klift
expect 2 "logistic holds no rows out" "$KLIFT" train train.svm --features 64 --learner logistic -v 5
says "  and names who does" err '[-]-learner ridge or --learner svm'

expect 0 "sgd learns from a file" "$KLIFT" train train.svm --features 64 --learner sgd --lambda 0.001 -o sgd.klift
says "  and tells the loss of rows before they were learnt from" err 'loss [0-9.]+ of rows before'
expect 0 "sgd learns from a pipe" bash -c "cat train.svm | '$KLIFT' train - --features 64 --learner sgd --lambda 0.001 -o piped.klift"
holds "  the same model" cmp sgd.klift piped.klift
expect 0 "sgd goes through rows more than once" "$KLIFT" train train.svm --features 64 --learner sgd:passes=5,loss=logistic -o passes.klift
says "  and tells its objective" err 'objective [0-9.]+, 5 passes'
awk 'BEGIN { srand(1); for (i = 0; i < 500; i++) printf "%f 1:%f 2:%f\n", rand(), 1e6 * rand(), 1e6 * rand() }' >huge.svm
expect 1 "weights that run away are a failure" "$KLIFT" train huge.svm --kernel linear --task regress --learner sgd:step=pegasos -o no.klift
says "  with the way out" err 'scale the data'
holds "  and no model" [ ! -e no.klift ]
expect 0 "the default step does not run away" "$KLIFT" train huge.svm --kernel linear --task regress --learner sgd -o huge.klift

expect 0 "doubly-stochastic trains on copies of the map" "$KLIFT" train train.svm --features 256 --map 'copies(fourier):each=64' --learner doubly-stochastic -o doubly.klift
says "  and tells its objective" err 'objective [0-9.]+, 4 copies of 64 features'
expect 0 "doubly-stochastic learns from a pipe" bash -c "cat train.svm | '$KLIFT' train - --features 256 --map 'copies(fourier):each=64' --learner doubly-stochastic -o piped.klift"
holds "  the same model" cmp doubly.klift piped.klift
expect 0 "its model is inspected" "$KLIFT" inspect doubly.klift
says "  as copies of a map" out 'copies[(]fourier:form=paired[)]:each=64'
holds "  and is no larger than its weights and a head" [ "$(wc -c <doubly.klift)" -lt $((256 * 8 + 2000)) ]
expect 0 "its model predicts" "$KLIFT" test doubly.klift test.svm
cp doubly.klift before.klift
expect 1 "steps that run away are a failure" "$KLIFT" train train.svm --features 256 --map 'copies(fourier):each=16' --learner doubly-stochastic:step=1e20,loss=squared --lambda 1e-9 -o doubly.klift
says "  with the way out" err 'leave --step out|leave step out'
holds "  and the model that was there stays" cmp before.klift doubly.klift
expect 2 "it refuses a map without copies" "$KLIFT" train train.svm --features 64 --map nystrom --learner doubly-stochastic -o no.klift
says "  and names maps that have some" err 'no independent copies.*fourier'

expect 0 "sgd goes on from a model" "$KLIFT" train test.svm --learner sgd --warm-start sgd.klift -o more.klift
says "  and says so" err 'goes on from sgd.klift, of [0-9]+ rows'
"$KLIFT" inspect --json more.klift >out
is_json "  counting its rows" out "j['rows'] == $(cat train.svm test.svm | wc -l)"
expect 0 "into the same file too" bash -c "cp sgd.klift same.klift; '$KLIFT' train test.svm --learner sgd --warm-start same.klift -o same.klift"
holds "  the same model" cmp more.klift same.klift
expect 0 "and from a pipe" bash -c "cat test.svm | '$KLIFT' train - --learner sgd --warm-start sgd.klift -o piped.klift"
holds "  the same model again" cmp more.klift piped.klift
expect 2 "what contradicts the model is refused" "$KLIFT" train test.svm --learner sgd --warm-start sgd.klift --features 128 -o no.klift
says "  with both sides" err '[-]-features 128, but the model to go on from has --features 64'
expect 2 "ridge does not go on" "$KLIFT" train test.svm --warm-start sgd.klift -o no.klift
expect 4 "a file that is no model is told" "$KLIFT" train test.svm --learner sgd --warm-start train.svm -o no.klift
awk 'BEGIN { print "a,colour,kind"; srand(2); for (i = 0; i < 300; i++) { u = rand(); c = int(3 * rand()); print u "," substr("redblutan", 3 * c + 1, 3) "," (u + c / 3 > 0.7 ? "yes" : "no") } }' >table.csv
expect 0 "a table" "$KLIFT" train table.csv --features 32 --learner sgd -o table.klift
(sed -n 1p table.csv | awk -F, '{ print $3 "," $2 "," $1 }'; sed 1d table.csv | awk -F, '{ print $3 "," $2 "," $1 }') >turned.csv
expect 0 "goes on by the names of its columns" "$KLIFT" train turned.csv --label kind --learner sgd --warm-start table.klift -o turned.klift
expect 0 "  as with the same table" "$KLIFT" train table.csv --label kind --learner sgd --warm-start table.klift -o again.klift
holds "  the same model" cmp turned.klift again.klift

expect 0 "sgd ends early by rows held out" "$KLIFT" train train.svm --features 64 --learner sgd:passes=200 --early-stop 3 -o early.klift
says "  and tells which pass was the best" err 'rows held out, least after pass [0-9]+ of [0-9]+$'
says "  and their error" out '^cv error .* held-out rows'
says "  which its progress has too" err '^klift: passes: .*, loss [0-9.]+, holdout [0-9.]+$'
expect 0 "a curve of rows that sgd held out" "$KLIFT" train train.svm --features 64 --learner sgd:passes=5 --holdout 0.3 --curve -o early.klift
says "  has passes that double" out '^curve of rows held out'
expect 2 "ridge does not end early" "$KLIFT" train train.svm --features 64 --early-stop 3 -o no.klift
says "  and what does" err '[-]-learner sgd:passes=100'
"$KLIFT" generate checkerboard stream.svm --rows 20000 -q
expect 0 "the progress of a pass" "$KLIFT" train stream.svm --features 64 --learner sgd --lambda 0.001 -o stream.klift
says "  has the loss of rows before they were learnt from" err '^klift: rows: 4096 of 20000 rows, .*, loss [0-9.]+$'
says "  and that since the last line" err '^klift: rows: 8192 of 20000 rows, .*, loss [0-9.]+, since last [0-9.]+$'
holds "  of which it is the mean" awk -F'loss |, since last ' '/^klift: rows: (4096|8192) / { l[++n] = $2; s = $3 } END { d = 2 * l[2] - l[1] - s; exit !(n == 2 && d < 0.002 && d > -0.002) }' err
expect 2 "a training that goes on keeps no checkpoint" "$KLIFT" train test.svm --learner sgd --warm-start sgd.klift --checkpoint way.kept -o no.klift
says "  and says so" err 'goes on from a model keeps no checkpoint'
