# 5_csv.sh - tables: columns by name, text columns, missing values, and the same model from every format.
awk 'BEGIN { print "id,x,z,colour,class"
    for (i = 0; i < 300; i++) { a = (i * 7919) % 101 / 50 - 1; b = (i * 104729) % 97 / 48 - 1; c = i % 3 == 0 ? "red" : i % 3 == 1 ? "blue" : "\"sea\ngreen\""
        printf "%d,%.4g,%.4g,%s,%s\n", i, a, b, c, (a + (c == "red" ? 0.5 : 0) > b ? "above" : "below") } }' >table.csv
expect 0 "train reads CSV" "$KLIFT" train table.csv --ignore id --features 64 -o table.klift
says "train says what it took the columns for" err "CSV with a header; label: column 'class'; columns of numbers: 2, of categories: 1 \(5 columns"
says "text labels are classes" out '^classes +2: above below'
expect 0 "inspect shows the columns of a model" "$KLIFT" inspect --json table.klift
is_json "with names and categories" out '[c["name"] for c in j["inputs"]] == ["x", "z", "colour"] and j["inputs"][2]["categories"] == ["blue", "red", "sea\ngreen"] and j["label"] == "class"'
expect 0 "inspect shows the columns of data" "$KLIFT" inspect --json table.csv --ignore id
is_json "with format, label and kinds" out 'j["format"] == "csv" and j["label"] == "class" and [c["kind"] for c in j["inputs"]] == ["number", "number", "categories"] and j["rows"] == 300'
expect 0 "predict reads CSV" "$KLIFT" predict table.klift table.csv
holds "predict prints one label per row" [ "$(grep -Ec '^(above|below)$' out)" -eq 300 ]
says "columns the model does not know are noted" err '1 columns that the model does not know are left out'
says "predict prints the accuracy" err '^Accuracy = [0-9.]+% \([0-9]+/300\)$'
cp out table.labels
expect 0 "predict reads CSV from stdin" bash -c "cat table.csv | '$KLIFT' predict table.klift -"
holds "stdin gives the same labels" cmp out table.labels
expect 0 "train reads CSV from stdin" bash -c "cat table.csv | '$KLIFT' train - --ignore id --features 64 -o piped.klift -q"
holds "a short pipe gives the same model" cmp table.klift piped.klift
for size in 1 7; do
    expect 0 "train --batch $size succeeds" "$KLIFT" train table.csv --ignore id --features 64 -o batch.klift -q --batch $size
    holds "a batch of $size gives the same bytes" cmp table.klift batch.klift
done
expect 0 "test reads CSV" "$KLIFT" test --json table.klift table.csv -q
is_json "test is right where predict is" out 'j["rows"] == 300 and j["accuracy"] > 0.8'
expect 0 "transform --model reads CSV" "$KLIFT" transform --model table.klift table.csv lifted.npy -q
expect 0 "train --test takes a table" "$KLIFT" train table.csv --ignore id --features 64 -o again.klift --test table.csv --json -q
is_json "and tests as test does" out 'j["test"]["rows"] == 300 and j["test"]["accuracy"] > 0.8'

# the same rows with their columns in another order, without the label, with an unseen category
printf 'z,colour,x\n' >new.csv
printf 'class,z,extra,colour,x\n' >order.csv
awk 'BEGIN { for (i = 0; i < 300; i++) { a = (i * 7919) % 101 / 50 - 1; b = (i * 104729) % 97 / 48 - 1; c = i % 3 == 0 ? "red" : i % 3 == 1 ? "blue" : "\"sea\ngreen\""
    printf("%.4g,%s,%.4g\n", b, c, a) >>"new.csv"
    printf("%s,%.4g,%d,%s,%.4g\n", (a + (c == "red" ? 0.5 : 0) > b ? "above" : "below"), b, i, c, a) >>"order.csv" } }'
expect 0 "predict finds columns by name" "$KLIFT" predict table.klift order.csv
holds "another order gives the same labels" cmp out table.labels
says "and the label is found too" err '^Accuracy'
expect 0 "predict needs no label column" "$KLIFT" predict table.klift new.csv
holds "no label column gives the same labels" cmp out table.labels
holds "and no accuracy" [ "$(grep -c Accuracy err)" -eq 0 ]
expect 0 "transform --save keeps the columns" "$KLIFT" transform table.csv kept.npy --ignore id --features 32 --save kept.klift -q
expect 0 "transform --model finds them by name" "$KLIFT" transform --model kept.klift order.csv found.npy -q
holds "another order gives the same features" cmp kept.npy found.npy
sed 's/,red,/,purple,/' new.csv >unseen.csv
expect 0 "predict takes an unseen category" "$KLIFT" predict -q table.klift unseen.csv
holds "for every row" [ "$(wc -l <out)" -eq 300 ]
says "and warns once, with their number" err '^klift: warning: .*100 cells hold categories that were not seen'
holds "and nothing else" [ "$(wc -l <err)" -eq 1 ]
printf 'z,x\n1,2\n' >lacking.csv
expect 3 "a column that is missing is an error" "$KLIFT" predict table.klift lacking.csv
says "that names it" err "column 'colour', which the model needs, is not in the header"

# label by name and position, header or not
printf 'price,rooms,area\n' >house.csv
awk 'BEGIN { for (i = 0; i < 200; i++) { r = i % 5 + 1; a = 30 + (i * 37) % 90; printf "%.1f,%d,%d\n", 2.5 * a + 10 * r, r, a } }' >>house.csv
tail -n +2 house.csv >bare.csv
expect 0 "train --label takes a name" "$KLIFT" train house.csv --label price --task regress --features 64 -o name.klift -q
expect 0 "train --label takes a position" "$KLIFT" train house.csv --label 1 --task regress --features 64 -o position.klift -q
holds "name and position are the same column" cmp name.klift position.klift
expect 0 "train --label counts from the end" "$KLIFT" train bare.csv --label -3 --task regress --features 64 -o bare.klift -q
expect 0 "the label's position is kept" "$KLIFT" predict bare.klift bare.csv -q
cp out bare.out
expect 0 "and the header does not change numbers" "$KLIFT" predict name.klift house.csv -q
holds "so predictions are the same" cmp out bare.out
expect 2 "a label that is not there is a usage error" "$KLIFT" train house.csv --label prize
says "answered with the nearest" err "did you mean 'price'"
expect 2 "a format without columns has no label option" "$KLIFT" train train.svm --label 1

# the same numbers in every format give the same bytes
"$KLIFT" generate spirals same.svm --rows 500 --seed 3 -q
awk '{ split($2, a, ":"); split($3, b, ":"); if ($2 !~ /^1:/ || $3 !~ /^2:/) exit 1; printf "%s,%s,%s\n", a[2], b[2], $1 }' same.svm >same.csv
"$KLIFT" generate spirals same.npy --labels same_y.npy --rows 500 --seed 3 -q
holds "every row was written as CSV" [ "$(wc -l <same.csv)" -eq 500 ]
expect 0 "train on svmlight" "$KLIFT" train same.svm --features 64 -o same-svm.klift -q
expect 0 "train on CSV" "$KLIFT" train same.csv --features 64 -o same-csv.klift -q
expect 0 "train on NPY" "$KLIFT" train same.npy --labels same_y.npy --features 64 -o same-npy.klift -q
holds "CSV and svmlight give the same model" cmp same-csv.klift same-svm.klift
holds "CSV and NPY give the same model" cmp same-csv.klift same-npy.klift
holds "plain numbers leave no columns in the model" [ "$(grep -c COLS same-csv.klift)" -eq 0 ]
holds "names do" grep -q COLS name.klift
expect 0 "a model of svmlight predicts CSV" "$KLIFT" predict same-svm.klift same.csv -q
cp out same.out
expect 0 "a model of CSV predicts svmlight" "$KLIFT" predict same-csv.klift same.svm -q
holds "with the same labels" cmp out same.out
sed 's/\./,/g; s/,\([^,]*\)$/;\1/; s/^\(-\{0,1\}[0-9]*,[0-9]*\),/\1;/' same.csv >comma.csv
expect 3 "a decimal comma is an error" "$KLIFT" train comma.csv --features 64 -o comma.klift
says "that says what to do" err 'comma\.csv:[0-9]+:[0-9]+: .*--decimal comma'
expect 0 "train --decimal comma succeeds" "$KLIFT" train comma.csv --decimal comma --features 64 -o comma.klift -q
holds "and gives the same model" cmp comma.klift same-csv.klift
sed 's/$/\r/' same.csv >crlf.csv
{ printf '\357\273\277'; cat same.csv; } >bom.csv
tr ',' '\t' <same.csv >same.tsv
for other in crlf.csv bom.csv same.tsv; do
    expect 0 "train on $other" "$KLIFT" train $other --features 64 -o other.klift -q
    holds "$other gives the same model" cmp other.klift same-csv.klift
done

# missing values
awk -F, 'NR % 10 == 5 { print "," $2 "," $3; next } { print }' same.csv >gaps.csv
expect 3 "a missing value is an error" "$KLIFT" train gaps.csv --features 64 -o gaps.klift
says "with its place and the ways out" err 'gaps\.csv:5:1: empty cell: .*--missing zero, --missing mean or --missing skip'
for way in zero mean skip; do
    expect 0 "train --missing $way succeeds" "$KLIFT" train gaps.csv --missing $way --features 64 -o gaps-$way.klift
done
says "skipped rows are counted" err '50 rows with missing values are skipped'
holds "the ways differ" [ "$(cat gaps-zero.klift gaps-mean.klift gaps-skip.klift | cksum)" != "$(cat gaps-zero.klift gaps-zero.klift gaps-zero.klift | cksum)" ]
expect 0 "predict fills as training did" "$KLIFT" predict gaps-mean.klift gaps.csv -q
holds "every row" [ "$(wc -l <out)" -eq 500 ]
expect 3 "predict does not skip by itself" "$KLIFT" predict gaps-skip.klift gaps.csv
expect 0 "predict --missing skip does" "$KLIFT" predict gaps-skip.klift gaps.csv --missing skip
holds "and leaves rows out" [ "$(wc -l <out)" -eq 450 ]
says "and says how many" err '50 rows with missing values are skipped'

# faults
printf 'a,b,y\n1,2,0\n3,4\n5,6,1\n' >ragged.csv
expect 3 "a ragged row is an error" "$KLIFT" train ragged.csv
says "with its line and column" err 'ragged\.csv:3:4: the row has 2 cells'
seq 100 >single.txt
expect 0 "one column of numbers is not taken for CSV" "$KLIFT" inspect --json single.txt --dim 1
says "but for svmlight" out '"format": "svmlight"'
expect 3 "it can be forced to be CSV" "$KLIFT" train single.txt --format csv
says "and as CSV it has nothing to learn from" err 'one column, the label'
awk 'BEGIN { for (i = 0; i < 12000; i++) printf "%d,%s,%d\n", i, i == 11000 ? "oops" : i % 10, i % 2 }' >late.csv
expect 3 "a word below 11,000 numbers is an error" "$KLIFT" train late.csv -o late.klift
says "with its place" err "late\.csv:11001:7: 'oops' is not a number.*categorical"
awk 'BEGIN { for (i = 0; i < 12; i++) { for (j = 0; j < 100000; j++) printf "%d,", (i * j) % 7; print i % 2 } }' >wide.csv
expect 0 "a hundred thousand columns are read" "$KLIFT" inspect --json wide.csv
is_json "all of them" out 'j["columns"] == 100000 and j["rows"] == 12'
printf 'a,b,y\n1,"2,0\n3,4,1\n' >open.csv
expect 3 "a quote that is not closed is an error" "$KLIFT" train open.csv
says "placed where it opens" err 'open\.csv:2:3: the quote is not closed'
expect 3 "CSV that is forced to be svmlight is an error" "$KLIFT" train same.csv --format svmlight
says "that names the format" err 'say --format csv'
