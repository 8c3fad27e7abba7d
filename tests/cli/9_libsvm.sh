# 9_libsvm.sh - what users of LIBSVM and LIBLINEAR expect: weights of classes, types of SVM, tolerances, cross-validation.
"$KLIFT" generate rings classes.svm --rows 600 --seed 3 -q
cut -d' ' -f1 classes.svm | sort -u | head -n 2 >names
low=$(sed -n 1p names) high=$(sed -n 2p names)
awk -v low="$low" -v high="$high" '{ $1 = $1 == low ? -1 : $1 == high ? 1 : 2; print }' classes.svm | awk '$1 < 2' >two.svm
weighed="two.svm --features 64 --kernel gaussian:gamma=1 -c 1 -q"
for learner in ridge svm; do
    expect 0 "$learner takes --class-weight" "$KLIFT" train $weighed --learner $learner --class-weight 1=5,-1=0.5 -o long.klift
    expect 0 "$learner takes LIBSVM's -wi" "$KLIFT" train $weighed --learner $learner -w1 5 -w-1 0.5 -o short.klift
    holds "-wi is --class-weight ($learner)" cmp long.klift short.klift
    expect 0 "$learner trains without weights" "$KLIFT" train $weighed --learner $learner -o plain.klift
    holds "weights of classes count ($learner)" bash -c '! cmp -s long.klift plain.klift'
    expect 0 "weights of 1 are no weights ($learner)" "$KLIFT" train $weighed --learner $learner -w1 1 -o one.klift
    holds "and give the same model ($learner)" cmp one.klift plain.klift
    expect 0 "$learner balances" "$KLIFT" train $weighed --learner $learner --class-weight balanced -o even.klift
    expect 3 "a label that no row has is refused ($learner)" "$KLIFT" train $weighed --learner $learner -w7 2 -o none.klift
    says "and named ($learner)" err "no row has the label '7'; labels are "
done
expect 0 "weights of classes go together with a code" "$KLIFT" train $weighed --code random --bits 20 --class-weight 1=5,-1=0.5 -o coded-long.klift
expect 0 "and -wi too" "$KLIFT" train $weighed --code random --bits 20 -w1 5 -w-1 0.5 -o coded-short.klift
holds "which is the same" cmp coded-long.klift coded-short.klift
expect 0 "a code without weights trains" "$KLIFT" train $weighed --code random --bits 20 -o coded-plain.klift
holds "weights of classes count under a code" bash -c '! cmp -s coded-long.klift coded-plain.klift'
expect 2 "a negative weight is refused" "$KLIFT" train $weighed -w1 -3 -o none.klift
says "with its label" err "label '1' is '-3'"
expect 2 "-w without a label is refused" "$KLIFT" train two.svm -w 5
says "with how it is written" err '[-]w1 5'
expect 2 "-w1 without a weight is refused" "$KLIFT" train two.svm -w1
expect 2 "-w beside --class-weight is refused" "$KLIFT" train $weighed -w1 2 --class-weight balanced
expect 2 "class weights of a regression are refused" "$KLIFT" train two.svm --features 16 --task regress -w1 2 -q -o none.klift
says "with the option" err 'class-weight is for classes'
printf 'class-weight = 1=5,-1=0.5\n' >weights.conf
expect 0 "--config has class-weight" "$KLIFT" train $weighed --learner svm --config weights.conf -o file.klift
expect 0 "-wi replaces that of the file" "$KLIFT" train $weighed --learner svm --config weights.conf -w1 1 -o one.klift
holds "by its own weights" cmp one.klift plain.klift
holds "and the file's are those of the option" bash -c "'$KLIFT' train $weighed --learner svm -w1 5 -w-1 0.5 -o again.klift && cmp again.klift file.klift"
printf 'w = 1\n' >weights.conf
expect 2 "--config has no -w" "$KLIFT" train $weighed --config weights.conf
says "and says which key" err 'class-weight = LABEL=WEIGHT'
"$KLIFT" generate rings long.svm --rows 17000 -q
expect 2 "ridge does not balance a pipe" bash -c "cat long.svm | '$KLIFT' train - --features 16 --class-weight balanced -c 1 -q -o pipe.klift"
says "and says what to do" err 'give a file instead of a pipe .*--class-weight 1=5, or use --learner svm'
expect 0 "svm balances a pipe" bash -c "cat long.svm | '$KLIFT' train - --features 16 --class-weight balanced --learner svm:passes=5 --kernel gaussian:gamma=1 -q -o pipe.klift"
expect 0 "and the same rows of a file" "$KLIFT" train long.svm --features 16 --class-weight balanced --learner svm:passes=5 --kernel gaussian:gamma=1 -q -o pipe2.klift
holds "to the same model" cmp pipe.klift pipe2.klift

"$KLIFT" generate friedman numbers.svm --rows 300 --seed 3 -q
same() { # SENTENCE, DATA, LIBSVM's flags, klift's
    expect 0 "$1" "$KLIFT" train $2 --features 32 --kernel gaussian:gamma=1 -q -o short.klift $3
    expect 0 "$1: as options" "$KLIFT" train $2 --features 32 --kernel gaussian:gamma=1 -q -o long.klift $4
    holds "$1: and it is the same" cmp short.klift long.klift
}
same "-s 0 is the hinge" two.svm "-s 0" "--learner svm:loss=hinge"
same "-s 3 is the epsilon loss" numbers.svm "-s 3 -p 0.5" "--learner svm:loss=epsilon,epsilon=0.5 --task regress"
same "-e is the tolerance" two.svm "-s 0 -e 0.1" "--learner svm:loss=hinge,tolerance=0.1"
same "-e is --tolerance" two.svm "--learner svm -e 0.1" "--learner svm --tolerance 0.1"
same "-B is the bias" two.svm "-s 0 -B -1" "--learner svm:loss=hinge,bias=-1"
same "-p is --epsilon" numbers.svm "-s 3 -p 0.5" "-s 3 --epsilon 0.5"
expect 0 "inspect tells what flags said" "$KLIFT" inspect short.klift
says "in the learner's text" out 'svm:loss=epsilon,epsilon=0.5,bias=1,tolerance=0.001'
for flag in e p B; do
    expect 2 "-$flag is refused for ridge" "$KLIFT" train two.svm -$flag 0.1 -q
    says "-$flag names ridge and svm" err 'learner ridge has no (tolerance|epsilon|bias): leave it out, or .*--learner svm'
done
for type in 1 2 4 x; do expect 2 "-s $type is refused" "$KLIFT" train -s $type two.svm; done
says "-s says what to do" err '[-]-learner svm:loss=squared-hinge'
expect 2 "-s beside --learner is refused" "$KLIFT" train -s 0 --learner svm two.svm
expect 2 "-s 3 beside --task classify is refused" "$KLIFT" train -s 3 --task classify two.svm
expect 2 "-e that is no tolerance is refused" "$KLIFT" train -s 0 -e 2 two.svm -q
printf 'learner = ridge\ntask = regress\n' >type.conf
expect 0 "-s replaces learner and task of a file" "$KLIFT" train two.svm -s 0 --features 16 --config type.conf -q -o type.klift
says "by its own" out '^learner +svm:loss=hinge'

mkdir folds && cd folds || exit 2
for learner in ridge svm svm:loss=hinge svm:classes=crammer-singer; do
    expect 0 "-v of $learner succeeds" "$KLIFT" train -v 4 -g 1 -c 10 --learner $learner ../two.svm --features 64
    says "-v of $learner prints LIBSVM's line" out '^Cross Validation Accuracy = [0-9.]+%$'
    holds "-v of $learner prints nothing else" [ "$(wc -l <out)" -eq 1 ]
    cp out first
    expect 0 "-v of $learner with other threads and batches succeeds" "$KLIFT" train -v 4 -g 1 -c 10 --learner $learner ../two.svm --features 64 --threads 1 --batch 7
    holds "and gives the same" cmp out first
    holds "-v of $learner from a pipe gives the same" bash -c "'$KLIFT' train -v 4 -g 1 -c 10 --learner $learner --features 64 -q - <../two.svm | cmp - first"
done
expect 0 "-v with -s 3 succeeds" "$KLIFT" train -s 3 -v 3 -g 1 ../numbers.svm --features 64 -q
says "-v with -s 3 prints LIBSVM's line" out '^Cross Validation Mean squared error = [0-9.e+-]+$'
expect 0 "-v with -s 0 and weights of classes succeeds" "$KLIFT" train -s 0 -v 3 -g 1 -w1 5 ../two.svm --features 64 -q
holds "-v writes no model" [ -z "$(ls ./*.klift 2>/dev/null)" ]
cd .. || exit 2
expect 0 "svm tells the error of its folds" "$KLIFT" train two.svm --learner svm --search folds --features 64 -q -o folds.klift
says "of all rows, as ridge does" out "^cv error +[0-9.]+ % of $(wc -l <two.svm) held-out rows\$"
says "and that lambda was not chosen by them" out '^lambda .*\(given\)$'
expect 2 "svm has no gcv" "$KLIFT" train two.svm --learner svm --search gcv -q -o none.klift
says "and says what to use" err 'use --search folds or --search holdout'
expect 0 "svm chooses C from a path" "$KLIFT" train two.svm --learner svm --path 0.01,1,10 --features 64 --kernel gaussian:gamma=1 -o path.klift --verbose
says "by its folds" out '^lambda .*\(by cross-validation, 5 folds\)$'
says "with the error of every C" err 'C 0.01: error [0-9.]+ on [0-9]+ rows held out'
says "and the best" err 'C [0-9.]+ has the least error'
holds "--verbose lists them" [ "$(sed -n '/^lambda *cv error/,$p' out | wc -l)" -eq 4 ]
expect 0 "-v with a path succeeds" "$KLIFT" train two.svm -v 5 -s 0 --path 0.01,1 --features 64 -g 1 -q
says "and prints the best accuracy" out '^Cross Validation Accuracy = [0-9.]+%$'
expect 2 "a path that is none is refused" "$KLIFT" train two.svm --learner svm --path 1,x -q -o none.klift
says "with its item" err "path: 'x' is not a number above 0"
expect 2 "a path of ridge is refused" "$KLIFT" train two.svm --path 1,2 -q -o none.klift
says "with what to do" err 'leave --path 1,2 out, or use --learner svm'
expect 2 "a path beside -c is refused" "$KLIFT" train two.svm --learner svm --path 1,2 -c 1 -q -o none.klift
says "with both" err 'path chooses C'
