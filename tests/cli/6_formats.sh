# 6_formats.sh - compressed files, IDX, NPZ and several inputs: the same rows give the same model, wherever they come from.
mkdir formats && cd formats || exit 2
"$KLIFT" generate rings r.svm --rows 900 -q
expect 0 "a plain file is trained" "$KLIFT" train r.svm --features 48 -o plain.klift -q
packers=
for packer in gzip xz zstd bzip2; do
    if ! command -v $packer >/dev/null || { $packer -c r.svm >r.$packer 2>/dev/null; "$KLIFT" inspect r.$packer 2>&1 | grep -q 'built without'; }; then
        skip "$packer (no such command, or klift is built without it)"
        continue
    fi
    packers="$packers $packer"
    expect 0 "a $packer file is trained" "$KLIFT" train r.$packer --features 48 -o m.klift -q
    holds "$packer gives the same model" cmp m.klift plain.klift
    expect 0 "$packer from a pipe is trained" bash -c "cat r.$packer | '$KLIFT' train - --features 48 -o m.klift -q"
    holds "$packer from a pipe gives the same model" cmp m.klift plain.klift
    expect 0 "$packer as redirected input is trained" bash -c "'$KLIFT' train - --features 48 -o m.klift -q <r.$packer"
    holds "$packer as redirected input gives the same model" cmp m.klift plain.klift
    expect 0 "$packer is predicted" "$KLIFT" predict plain.klift r.$packer -q
    holds "$packer gives the same predictions" cmp out <("$KLIFT" predict plain.klift r.svm -q)
    expect 0 "$packer is tested" "$KLIFT" test plain.klift r.$packer -q
    expect 0 "$packer is inspected" "$KLIFT" inspect r.$packer --json
    is_json "inspect names what is inside the $packer file" out 'j["format"] == "svmlight" and j["rows"] == 900'
    head -c 3000 r.$packer >cut
    rm -f m.klift
    expect 3 "a truncated $packer file is an error" "$KLIFT" train cut --features 48 -o m.klift -q
    says "and the byte is named" err 'cut: the file is truncated: its '$packer' data break off at byte 3000'
    holds "and no model is left" [ ! -e m.klift ]
    cat r.$packer r.$packer >two
    cat r.svm r.svm >two.svm
    expect 0 "two $packer files behind one another are trained" "$KLIFT" train two --features 48 -o m.klift -q
    "$KLIFT" train two.svm --features 48 -o twice.klift -q >/dev/null
    holds "two $packer members are one file" cmp m.klift twice.klift
    $packer -c r.$packer >twice
    expect 3 "a file compressed twice by $packer is an error" "$KLIFT" inspect twice
    says "and it says so" err "compressed twice \($packer inside $packer\)"
    mv r.$packer r.dat # the name tells nothing
    expect 0 "$packer is known by its content" "$KLIFT" inspect r.dat
    mv r.dat r.$packer
done
case $packers in *gzip*)
    (cat r.gzip; echo garbage) >tail.gz
    expect 0 "garbage behind gzip data is no error" "$KLIFT" train tail.gz --features 48 -o m.klift -q
    says "but a warning, also with -q" err 'warning.*tail.gz.*what follows the gzip data, from byte [0-9]+ on, is ignored'
    holds "and only one" [ "$(grep -c ignored err)" -eq 1 ]
    holds "and the model is the same" cmp m.klift plain.klift
    gzip -c plain.klift >model.gz
    expect 4 "a compressed model is not a model" "$KLIFT" test model.gz r.svm ;;
esac

# IDX: 200 rows of 2 x 2 bytes, their labels beside them
number() { printf "\\$(printf %03o $(($1 >> 24 & 255)))\\$(printf %03o $(($1 >> 16 & 255)))\\$(printf %03o $(($1 >> 8 & 255)))\\$(printf %03o $(($1 & 255)))"; }
bytes() { awk -v what="$1" 'BEGIN { srand(7); for (i = 0; i < 200; i++) { s = 0; for (j = 0; j < 4; j++) { v[j] = int(256 * rand()); s += (j % 2 ? -1 : 1) * v[j] }
    if (what == "x") printf "\\%03o\\%03o\\%03o\\%03o", v[0], v[1], v[2], v[3]
    if (what == "y") printf "\\%03o", (s > 0)
    if (what == "svm") { printf "%d", (s > 0); for (j = 0; j < 4; j++) if (v[j]) printf " %d:%d", j + 1, v[j]; print "" } } }'; }
(printf '\0\0\010\003'; number 200; number 2; number 2; printf "$(bytes x)") >x-idx3-ubyte
(printf '\0\0\010\001'; number 200; printf "$(bytes y)") >y-idx1-ubyte
bytes svm >idx.svm
expect 0 "IDX is trained" "$KLIFT" train x-idx3-ubyte --labels y-idx1-ubyte --features 32 --dim 4 -q
"$KLIFT" train idx.svm --features 32 --dim 4 -o idx.klift -q >/dev/null
holds "IDX gives the model of the same rows in text" cmp x-idx3-ubyte.klift idx.klift
expect 0 "IDX is tested" "$KLIFT" test idx.klift x-idx3-ubyte --labels y-idx1-ubyte --json -q
is_json "on all rows" out 'j["rows"] == 200'
expect 0 "IDX is predicted without labels" "$KLIFT" predict idx.klift x-idx3-ubyte -q
holds "and gives the labels of the same rows in text" cmp out <("$KLIFT" predict idx.klift idx.svm -q)
expect 0 "train --test takes IDX and its labels" "$KLIFT" train x-idx3-ubyte --labels y-idx1-ubyte --test x-idx3-ubyte --test-labels y-idx1-ubyte --features 32 -q
expect 0 "inspect reads IDX" "$KLIFT" inspect x-idx3-ubyte --labels y-idx1-ubyte --json
is_json "and knows it" out 'j["format"] == "idx" and j["columns"] == 4 and j["task"] == "classify"'
expect 3 "IDX without labels cannot be trained" "$KLIFT" train x-idx3-ubyte -q
head -c 700 x-idx3-ubyte >cut
expect 3 "truncated IDX is an error" "$KLIFT" inspect cut
says "that counts the bytes" err 'promises 816 bytes, it has 700'
for packer in $packers; do
    $packer -c x-idx3-ubyte >x.$packer
    $packer -c y-idx1-ubyte >y.$packer
    expect 0 "IDX in $packer is trained" "$KLIFT" train x.$packer --labels y.$packer --features 32 --dim 4 -o m.klift -q
    holds "IDX in $packer gives the same model" cmp m.klift idx.klift
done

# NPZ
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    /usr/bin/python3 - <<'END'
import numpy
x = numpy.fromfile("x-idx3-ubyte", "u1")[16:].reshape(200, 4)
y = numpy.fromfile("y-idx1-ubyte", "u1")[8:]
numpy.savez("stored.npz", X=x, y=y)
numpy.savez_compressed("deflated.npz", x.astype("f4"), y)
numpy.savez("named.npz", pixels=x, other=x[:, :1] * 1.0, digit=y)
numpy.save("f.npy", numpy.asfortranarray(x))
numpy.save("y.npy", y)
END
    if "$KLIFT" inspect stored.npz 2>&1 | grep -q 'built without'; then
        skip "NPZ (klift is built without zlib)"
    else
        for file in stored deflated; do
            expect 0 "$file.npz is trained" "$KLIFT" train $file.npz --features 32 -o m.klift -q
            holds "$file.npz gives the same model" cmp m.klift idx.klift
        done
        expect 0 "arrays of an NPZ are named" "$KLIFT" train named.npz --key pixels --label-key digit --features 32 -o m.klift -q
        holds "and give the same model" cmp m.klift idx.klift
        expect 3 "an NPZ that leaves the choice is an error" "$KLIFT" train named.npz -q
        says "that lists the arrays" err 'pixels, other, digit'
        expect 0 "an NPZ is tested" "$KLIFT" test idx.klift stored.npz -q
        expect 0 "an NPZ is inspected" "$KLIFT" inspect deflated.npz --json
        is_json "and known" out 'j["format"] == "npz" and j["rows"] == 200'
        expect 5 "an NPZ from a pipe is an error" bash -c "cat stored.npz | '$KLIFT' train - -o m.klift -q"
        says "with advice" err 'save it to a file first'
    fi
    expect 0 "Fortran order is trained" "$KLIFT" train f.npy --labels y.npy --features 32 -o m.klift -q
    holds "and gives the same model" cmp m.klift idx.klift
    expect 0 "NPY takes labels in IDX" "$KLIFT" train f.npy --labels y-idx1-ubyte --features 32 -o m.klift -q
    holds "and gives the same model as with labels in NPY" cmp m.klift idx.klift
else
    skip "NPZ by numpy (no numpy)"
fi

# several inputs
head -n 400 r.svm >part-1.svm
sed -n 401,520p r.svm >part-2.svm
sed -n '521,$p' r.svm >part-10.svm
expect 0 "three files are trained as one" "$KLIFT" train part-1.svm part-2.svm part-10.svm --features 48 -q
holds "the model has the first one's name" [ -e part-1.svm.klift ]
holds "three files give the model of one" cmp part-1.svm.klift plain.klift
mkdir sorted
cp part-1.svm sorted/a
gzip -c part-2.svm >sorted/b 2>/dev/null || cp part-2.svm sorted/b
cp part-10.svm sorted/c
case $packers in *gzip*) ;; *) cp part-2.svm sorted/b ;; esac
expect 0 "a pattern is expanded" "$KLIFT" train 'sorted/?' --features 48 -o m.klift -q
holds "in sorted order" cmp m.klift plain.klift
expect 0 "files and patterns may be mixed" "$KLIFT" train part-1.svm 'sorted/[bc]' --features 48 -o m.klift -q
holds "and keep their order" cmp m.klift plain.klift
cp r.svm 'odd[1].svm'
expect 0 "a file whose name looks like a pattern is that file" "$KLIFT" train 'odd[1].svm' --features 48 -o m.klift -q
holds "and gives its model" cmp m.klift plain.klift
expect 5 "a pattern without a match is an I/O error" "$KLIFT" train 'nothing-*.svm' -q
says "that names the pattern" err 'nothing-\*\.svm: no file matches'
expect 5 "a missing file among several is an I/O error" "$KLIFT" train part-1.svm nothing.svm -q
says "that names the file" err 'nothing.svm'
expect 3 "files of two formats are an error" "$KLIFT" train part-1.svm x-idx3-ubyte -q
says "that names both" err 'part-1.svm is svmlight, x-idx3-ubyte is idx'
expect 5 "a pipe among several inputs is an error" bash -c "cat r.svm | '$KLIFT' train part-1.svm - -q"
says "that says what to do" err 'standard input can be read once only and cannot be one of several inputs: save it'
echo '1 1:x' >bad.svm
expect 3 "a bad row in the second file is an error" "$KLIFT" train part-1.svm bad.svm -q
says "that names file, line and column" err 'bad.svm:1:5'
expect 2 "a model over one of its inputs is refused" "$KLIFT" train part-1.svm part-2.svm -o part-2.svm -q
expect 0 "several IDX files take as many labels" "$KLIFT" train x-idx3-ubyte x-idx3-ubyte --labels y-idx1-ubyte --labels y-idx1-ubyte --features 32 -o m.klift -q --json
is_json "and have the rows of both" out 'j["rows"] == 400'
expect 2 "one file of labels for two of rows is an error" "$KLIFT" train x-idx3-ubyte x-idx3-ubyte --labels y-idx1-ubyte -q
says "that counts them" err '2 files of data and 1 of labels'

expect 0 "list formats shows them all" "$KLIFT" list formats --json
is_json "npy, npz, idx, svmlight among them" out '{"npy", "npz", "idx", "svmlight"} <= {f["name"] for f in j}'
cd ..
