# 3_predict.sh - predict and transform: order, streams, scores, atomic output.
expect 0 "predict succeeds" "$KLIFT" predict m.klift test.svm
holds "predict prints one label per row" [ "$(wc -l <out)" -eq 200 ]
says "predict prints the accuracy on stderr" err '^Accuracy = [0-9.]+% \([0-9]+/200\)$'
cp out labels
expect 0 "predict -q succeeds" "$KLIFT" predict -q m.klift test.svm
holds "predict -q leaves stderr empty" [ ! -s err ]
expect 0 "predict takes data and model in either order" "$KLIFT" predict test.svm m.klift
holds "either order prints the same" cmp out labels
expect 0 "predict reads stdin" bash -c "cat test.svm | '$KLIFT' predict m.klift -"
holds "stdin gives the same labels" cmp out labels
expect 0 "predict reads stdin before the model" bash -c "cat test.svm | '$KLIFT' predict - m.klift"
holds "stdin before the model gives the same labels" cmp out labels
mkfifo pipe
cat test.svm >pipe &
expect 0 "predict reads a named pipe" "$KLIFT" predict pipe m.klift
wait
holds "a named pipe gives the same labels" cmp out labels
expect 0 "predict writes a file" "$KLIFT" predict m.klift test.svm labels.txt
holds "the file has the labels" cmp labels.txt labels
holds "the file alone is left" [ "$(ls labels.txt* | wc -l)" -eq 1 ]
expect 0 "predict --threads 1 succeeds" "$KLIFT" predict --threads 1 m.klift test.svm
holds "threads do not change predictions" cmp out labels
for i in $(seq 60); do cat test.svm; [ "$i" -ne 40 ] || echo "# a comment"; done >long.svm
expect 0 "predict reads a long file with one thread" "$KLIFT" predict --threads 1 m.klift long.svm
cp out long.labels
expect 0 "predict reads a long file with three threads" "$KLIFT" predict --threads 3 m.klift long.svm
holds "threads that read do not change predictions" cmp out long.labels
echo "1 2:x" >>long.svm
expect 3 "predict of a fault behind many rows" "$KLIFT" predict --threads 3 m.klift long.svm
says "threads that read know the line" err "^klift: long.svm:12002:5: "
cut -d' ' -f2- test.svm >bare.svm
expect 0 "predict needs no labels" "$KLIFT" predict m.klift bare.svm --no-label
holds "rows without labels get the same labels" cmp out labels
holds "and no accuracy is printed" [ "$(grep -c Accuracy err)" -eq 0 ]
expect 0 "predict --scores succeeds" "$KLIFT" predict --scores m.klift test.svm
holds "predict --scores has a header and a line per row" [ "$(wc -l <out)" -eq 201 ]
says "the header names the label and class 1" <(head -n 1 out) "^label	[^	]+$"
holds "the first column is the label" cmp <(tail -n +2 out | cut -f1) labels
holds "a positive score is class 1" awk -F'\t' 'NR == 1 { one = $2 } NR > 1 && ($2 > 0) != ($1 == one) { bad = 1 } END { exit bad }' out
expect 0 "predict of NPY succeeds" "$KLIFT" predict n.klift x.npy
holds "NPY without labels is predicted" [ "$(wc -l <out)" -eq 600 ]
expect 0 "predict of a regression succeeds" "$KLIFT" predict r.klift reg.svm
holds "a regression prints one number per row" [ "$(grep -Ec '^-?[0-9.]+(e[-+][0-9]+)?$' out)" -eq 600 ]
says "a regression prints the mean squared error on stderr" err '^Mean squared error = '
"$KLIFT" generate rings rings.svm --rows 300 -q
sed 's/^1 /one /; s/^2 /two /; s/^3 /three /' rings.svm >words.svm
expect 3 "labels that are words are an error" "$KLIFT" train words.svm --features 64 -q
says "and it says what to do" err 'label-type'
expect 0 "train takes words as labels" "$KLIFT" train words.svm --label-type text --features 64 -o words.klift -q
expect 0 "predict expects words from a model that has them" "$KLIFT" predict words.klift words.svm -q
says "predict prints the words" out '^three$'
expect 0 "test expects words from a model that has them" "$KLIFT" test words.klift words.svm --json -q
expect 0 "predict --scores of three classes succeeds" "$KLIFT" predict --scores words.klift rings.svm -q
says "the header names the classes" <(head -n 1 out) '^label	one	three	two$'
expect 0 "NPY from a pipe is predicted" bash -c "cat x.npy | '$KLIFT' predict m.klift - --format npy"
cp out piped
expect 0 "NPY from a pipe is known by its content" bash -c "cat x.npy | '$KLIFT' predict m.klift -"
holds "and predicted the same" cmp out piped
# index base and width come from the model: zero-based rows that lack column 0 and the last ones
printf '1 0:1 3:1\n-1 0:-1 3:-1\n1 0:1.5 3:1\n-1 0:-1.2 3:-1\n1 0:1.1 2:1\n-1 0:-1.3 2:-1\n' >zero.svm
expect 0 "train on zero-based columns succeeds" "$KLIFT" train zero.svm --kernel linear --map identity -o zero.klift -q
printf '1 1:1\n' >one.svm
expect 0 "predict keeps the model's index base and width" "$KLIFT" predict zero.klift one.svm -q
expect 3 "a column beyond the model's width is an error" bash -c "printf '1 9:1\n' | '$KLIFT' predict zero.klift -"
expect 0 "-- ends the options" "$KLIFT" predict -q -- m.klift test.svm
cp labels.txt old.txt
expect 3 "predict of bad data fails" bash -c "(cat test.svm; echo '1 1:x') >bad.svm; '$KLIFT' predict m.klift bad.svm old.txt"
holds "and leaves the old file" cmp old.txt labels.txt
holds "and no temporary one" [ "$(ls old.txt* | wc -l)" -eq 1 ]
expect 2 "predict over its own data is refused" "$KLIFT" predict m.klift test.svm test.svm
ln -sf labels.txt link.txt
expect 0 "predict through a link succeeds" "$KLIFT" predict m.klift test.svm link.txt
holds "the link is still one" [ -L link.txt ]
"$KLIFT" generate spirals many.svm --rows 50000 --seed 3 -q
"$KLIFT" predict m.klift many.svm 2>err | head -n 1 >out
codes=("${PIPESTATUS[@]}")
holds "predict | head -1 ends with 141" [ "${codes[0]}" -eq 141 ]
holds "predict | head -1 says nothing of it" [ "$(grep -c 'klift: [^pn]' err)" -eq 0 ]
"$KLIFT" generate spirals - --rows 300000 2>err | head -n 1 >out
codes=("${PIPESTATUS[@]}")
holds "generate | head -1 ends with 141" [ "${codes[0]}" -eq 141 ]
holds "generate | head -1 says nothing of it" [ "$(grep -ci 'broken pipe' err)" -eq 0 ]

expect 0 "transform writes NPY" "$KLIFT" transform --features 64 --seed 5 train.svm z.npy --output-labels zy.npy --save map.klift
holds "transform writes float32 rows" [ "$(wc -c <z.npy)" -ge $((600 * 64 * 4)) ]
holds "transform writes the labels" [ -s zy.npy ]
expect 0 "transform --model lifts by the same map" "$KLIFT" transform --model map.klift train.svm z2.npy
holds "the same map gives the same features" cmp z.npy z2.npy
expect 0 "transform --model takes a trained model" "$KLIFT" transform --model m.klift test.svm zt.svm
holds "transform writes LIBSVM text" [ "$(wc -l <zt.svm)" -eq 200 ]
holds "transform keeps the labels in text" cmp <(cut -d' ' -f1 zt.svm) <(cut -d' ' -f1 test.svm)
expect 0 "transform writes text to stdout" "$KLIFT" transform --model m.klift test.svm -
holds "stdout has the bytes of the file" cmp out zt.svm
expect 0 "a linear model on the features can be trained" "$KLIFT" train z.npy --labels zy.npy --kernel linear --map identity -o zl.klift -q
expect 2 "transform refuses --model and --kernel together" "$KLIFT" transform --model m.klift --kernel linear test.svm z.npy
expect 2 "predict with a map alone is refused" "$KLIFT" predict map.klift test.svm
says "and it says what to use" err 'transform'
expect 0 "inspect describes a map alone" "$KLIFT" inspect map.klift

# codes of the classes: bits are trained, classes are printed
expect 0 "train takes a code" "$KLIFT" train words.svm --label-type text --features 64 --code random --bits 20 --decode hamming -o coded.klift
says "and prints it" out '^code +random, 20 bits, hamming decoding$'
expect 0 "inspect shows the code" "$KLIFT" inspect coded.klift
says "its name" out '^code +random$'
says "its bits" out '^bits +20$'
says "its decoding" out '^decode +hamming$'
expect 0 "predict --scores of a code succeeds" "$KLIFT" predict --scores coded.klift rings.svm -q
says "the header names the classes, not the bits" <(head -n 1 out) '^label	one	three	two$'
holds "the label is the first of the largest scores" awk -F'\t' 'NR == 1 { split($0, name) } NR > 1 { best = 2; for (i = 3; i <= 4; i++) if ($i > $best) best = i; if ($1 != name[best]) bad = 1 } END { exit bad }' out
"$KLIFT" predict words.klift rings.svm plain.txt -q
for code in identity hadamard exhaustive; do
    expect 0 "train --code $code succeeds" "$KLIFT" train words.svm --label-type text --features 64 --code $code -o coded.klift -q
    expect 0 "predict with code $code succeeds" "$KLIFT" predict coded.klift rings.svm coded.txt -q
    holds "code $code predicts as one class against the rest" cmp coded.txt plain.txt
done
expect 2 "svm learns no codes" "$KLIFT" train words.svm --label-type text --learner svm --code random -o no.klift
says "and says what does" err 'use --learner ridge$'
expect 2 "bits without a code are refused" "$KLIFT" train words.svm --label-type text --bits 20 -o no.klift
says "with the codes there are" err '^klift: --bits 20 without a code; say --code random'
expect 2 "too few bits are refused" "$KLIFT" train words.svm --label-type text --code random --bits 1 --features 16 -o no.klift
says "with how many are needed" err '^klift: --bits 1 are too few to tell 3 classes apart, --code random needs at least 2;'
expect 2 "a code that is none is refused" "$KLIFT" train words.svm --code hadamar
says "with the codes there are" err 'hadamard'
expect 2 "a code of numbers is refused" "$KLIFT" train reg.svm --task regress --code random --features 16 -o no.klift
says "codes are for classes" err 'is for classes'
holds "no model was written" [ ! -e no.klift ]
