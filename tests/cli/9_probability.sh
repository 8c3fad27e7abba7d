# 9_probability.sh - train and predict with --probability, LIBSVM's -b, and the log loss of test.
"$KLIFT" generate rings three.svm --rows 900 --seed 3 -q
"$KLIFT" generate rings three_test.svm --rows 400 --seed 4 -q
"$KLIFT" generate checkerboard two.svm --rows 900 --seed 3 --noise 0.05 -q
"$KLIFT" generate checkerboard two_test.svm --rows 400 --seed 4 --noise 0.05 -q
asked="--features 200 --kernel gaussian:gamma=10 --map fourier -q"
# a header and as many columns, each row of probabilities that add up to 1, and its label
rows_add_up() { # FILE COLUMNS
    awk -F'\t' -v columns="$2" 'NF != columns { bad = 1 } NR > 1 { sum = 0; for (i = 2; i <= NF; i++) { sum += $i; if ($i < 0 || $i > 1) bad = 1 } if (sum < 1 - 1e-12 || sum > 1 + 1e-12) bad = 1 }
        END { exit bad }' "$1"
}
for learner in ridge svm; do
    expect 0 "$learner trains with --probability" "$KLIFT" train two.svm $asked --learner $learner --probability -o two_$learner.klift
    says "$learner prints how good they are" out '^probability +platt, log loss 0\.[0-9]+ of 900 rows held out$'
    expect 0 "$learner trains with -b 1" "$KLIFT" train two.svm $asked --learner $learner -b 1 -o again.klift
    holds "-b 1 is --probability ($learner)" cmp again.klift two_$learner.klift
    expect 0 "$learner trains with -b 0" "$KLIFT" train two.svm $asked --learner $learner -b 0 -o nought.klift
    holds "-b 0 is nothing ($learner)" bash -c "'$KLIFT' train two.svm $asked --learner $learner -o plain.klift && cmp plain.klift nought.klift"
    expect 0 "threads and batch do not matter ($learner)" "$KLIFT" train two.svm $asked --learner $learner --probability --threads 1 --batch 7 -o again.klift
    holds "for a byte ($learner)" cmp again.klift two_$learner.klift
    expect 0 "$learner takes rows from a pipe" bash -c "'$KLIFT' train - $asked --learner $learner --probability -o again.klift <two.svm"
    holds "with the same probabilities ($learner)" cmp again.klift two_$learner.klift
    expect 0 "predict --probability prints two columns ($learner)" "$KLIFT" predict --probability two_$learner.klift two_test.svm -q
    says "the header names both classes ($learner)" <(head -n 1 out) '^label	0	1$'
    holds "rows add up to 1 ($learner)" rows_add_up out 3
    holds "one line per row ($learner)" [ "$(wc -l <out)" -eq 401 ]
    cp out columns
    expect 0 "predict -b 1 succeeds ($learner)" "$KLIFT" predict -b 1 two_test.svm two_$learner.klift file.txt -q
    holds "predict -b 1 is --probability ($learner)" cmp columns file.txt
    expect 0 "predict -b 0 succeeds ($learner)" "$KLIFT" predict -b 0 two_$learner.klift two_test.svm -q
    holds "labels are the same with and without ($learner)" cmp <(tail -n +2 columns | cut -f1) out
    expect 0 "three classes train with --probability ($learner)" "$KLIFT" train three.svm $asked --learner $learner --probability -o three_$learner.klift
    says "$learner has a temperature" out '^probability +temperature, log loss '
    expect 0 "predict --probability prints three columns ($learner)" "$KLIFT" predict --probability three_$learner.klift three_test.svm -q
    holds "three columns add up to 1 ($learner)" rows_add_up out 4
    holds "the label is the most probable ($learner)" awk -F'\t' 'NR == 1 { split($0, name) } NR > 1 { best = 2; for (i = 3; i <= 4; i++) if ($i > $best) best = i; if ($1 != name[best]) bad = 1 } END { exit bad }' out
    expect 0 "test tells the log loss ($learner)" "$KLIFT" test two_$learner.klift two_test.svm -q
    says "as a line ($learner)" out '^log loss +0\.[0-9]{4}$'
    expect 0 "test --json succeeds ($learner)" "$KLIFT" test --json two_$learner.klift two_test.svm -q
    is_json "test --json has log_loss ($learner)" out '0 < j["log_loss"] < 0.65'
    wanted=$(tail -n +2 columns | paste - <(cut -d' ' -f1 two_test.svm) | awk -F'\t' '{ sum -= log($4 == 0 ? $2 : $3) } END { printf "%.9f", sum / NR }')
    is_json "it is the mean of -log of what predict prints ($learner)" out "abs(j['log_loss'] - $wanted) < 1e-7"
done
expect 0 "inspect shows them" "$KLIFT" inspect two_ridge.klift
says "with their method" out '^ +method +platt$'
says "and their numbers" out '^ +offset +-?[0-9.e-]+$'
expect 0 "inspect --json has them" "$KLIFT" inspect --json three_ridge.klift
is_json "as an object" out 'j["probability"]["method"] == "temperature" and j["probability"]["scale"] > 0 and "offset" not in j["probability"]'
expect 0 "train --test tells the log loss" "$KLIFT" train two.svm $asked --probability -c 10 --test two_test.svm -o again.klift
says "with its metrics" out '^log loss +0\.'
says "and lambda was given all the same" out '^lambda .*\(given\)$'
expect 0 "a code has them too" "$KLIFT" train three.svm $asked --code random --decode hamming --probability -o coded.klift
expect 0 "predict --probability of a code succeeds" "$KLIFT" predict --probability coded.klift three_test.svm -q
holds "its rows add up to 1" rows_add_up out 4
printf 'probability = true\n' >p.conf
expect 0 "--config has probability" "$KLIFT" train two.svm $asked --config p.conf -o again.klift
holds "for train" cmp again.klift two_ridge.klift
expect 0 "and for predict" "$KLIFT" predict two_ridge.klift two_test.svm --config p.conf -q
says "with its header" <(head -n 1 out) '^label	0	1$'
expect 0 "-b 0 replaces that of the file" "$KLIFT" predict -b 0 two_ridge.klift two_test.svm --config p.conf -q
holds "and prints labels" [ "$(wc -l <out)" -eq 400 ]

expect 2 "a model without them is refused" "$KLIFT" predict --probability plain.klift two_test.svm kept.txt
says "with what to do" err '^klift: the model has no probabilities: train it with --probability$'
holds "and writes nothing" [ ! -e kept.txt ]
expect 0 "such a model has no log loss" "$KLIFT" test plain.klift two_test.svm -q
holds "and says nothing of it" bash -c '! grep -q "log loss" out'
"$KLIFT" generate friedman numbers.svm --rows 300 --seed 3 -q
expect 2 "probabilities of numbers are refused" "$KLIFT" train numbers.svm --task regress --features 16 --probability -q -o no.klift
says "with what to do" err '^klift: --probability is for classes, the targets are numbers; leave it out, or say --task classify$'
"$KLIFT" train numbers.svm --task regress --features 16 -c 1 -q -o numbers.klift >/dev/null
expect 2 "numbers are not predicted with probabilities" "$KLIFT" predict --probability numbers.klift numbers.svm
says "and it says why" err 'predicts numbers'
expect 2 "--search gcv beside --probability is refused" "$KLIFT" train two.svm $asked --search gcv --probability -o no.klift
says "with what to use" err '^klift: --search gcv holds no rows out, and --probability needs some; use --search folds or --search holdout'
expect 3 "a class that no row held out has is refused" "$KLIFT" train two.svm $asked --class-weight 1=0 --probability -o no.klift
says "with its name and what to do" err "^klift: of the [0-9]+ rows held out none is of class '1', .*, or leave --probability out$"
expect 2 "--scores beside --probability is refused" "$KLIFT" predict --scores --probability two_ridge.klift two_test.svm
expect 2 "-b beside --probability is refused" "$KLIFT" train two.svm -b 1 --probability
expect 2 "-b that is neither 0 nor 1 is refused" "$KLIFT" train two.svm -b 2
says "with the option" err '[-]-probability'
holds "no model was written" [ ! -e no.klift ]
