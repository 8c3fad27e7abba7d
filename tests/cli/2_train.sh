# 2_train.sh - generate, train, test, inspect, list on small data; leaves train.svm, test.svm, m.klift for later parts.
expect 0 "generate writes LIBSVM text" "$KLIFT" generate spirals train.svm --rows 600 --seed 1
holds "generate writes the rows asked for" [ "$(wc -l <train.svm)" -eq 600 ]
expect 0 "generate makes other rows of the same kind from another seed" "$KLIFT" generate spirals test.svm --rows 200 --seed 2
"$KLIFT" generate spirals - --rows 600 --seed 1 >again.svm 2>/dev/null
holds "generate writes the same bytes to stdout" cmp train.svm again.svm
expect 0 "generate writes NPY" "$KLIFT" generate spirals x.npy --labels y.npy --rows 600 --seed 1
holds "generate writes the labels of NPY" [ -s y.npy ]
expect 2 "an unknown generator is a usage error" "$KLIFT" generate spiral out.svm
says "an unknown generator is answered with the nearest" err "spirals"
expect 2 "a number of rows that is none is a usage error" "$KLIFT" generate spirals out.svm --rows many

expect 0 "train succeeds" "$KLIFT" train train.svm --features 128
holds "train writes DATA.klift here by default" [ -s train.svm.klift ]
says "train prints the kernel" out '^kernel +gaussian'
says "train prints the features" out '^features +128'
says "train prints the rows" out '^rows +600'
says "train prints the classes" out '^classes +2:'
says "train prints lambda and how it was chosen" out '^lambda +[0-9.e+-]+ \(.+\)'
says "train prints the cross-validated error" out '^cv error +[0-9.]+ %'
says "train prints the model and its size" out '^model +train.svm.klift \([0-9.]+ [KM]?i?B?(bytes)?\)'
mkdir -p sub && cp train.svm sub/other.svm
expect 0 "train of a file elsewhere succeeds" "$KLIFT" train sub/other.svm --features 64 -q
holds "its model is written here" [ -s other.svm.klift ]
holds "-q leaves nothing but warnings on stderr" [ "$(grep -vc '^klift: warning: ' err)" -eq 0 ]
expect 0 "train --json succeeds" "$KLIFT" train train.svm --features=128 -o m.klift --test test.svm --json
is_json "train --json is one object with every key" out \
    'all(k in j for k in "map kernel features lambda cv_error rows search seconds peak_memory model test".split())'
is_json "train --json has the numbers" out \
    'j["features"] == 128 and j["rows"] == 600 and j["lambda"] > 0 and 0 <= j["cv_error"] <= 1 and j["peak_memory"] > 1e6 and j["seconds"]["total"] >= 0 and j["model"] == "m.klift"'
is_json "train --json --test has the metrics" out 'j["test"]["rows"] == 200 and abs(j["test"]["error"] + j["test"]["accuracy"] - 1) < 1e-9'
holds "equal options write equal models" cmp m.klift train.svm.klift
expect 0 "train with other threads and batches succeeds" "$KLIFT" train train.svm --features 128 -o m1.klift --threads 1 --batch 7 -q
holds "threads and batch do not change the model" cmp m.klift m1.klift
expect 0 "train --test prints metrics" "$KLIFT" train train.svm --features 128 -o m.klift --test test.svm -q
says "train --test prints the accuracy" out '^accuracy +[0-9.]+ %'
expect 0 "train --verbose succeeds" "$KLIFT" train train.svm --features 64 -o v.klift --verbose -q
says "train --verbose prints the path of lambda" out '^lambda +cv error'
expect 0 "train from NPY succeeds" "$KLIFT" train x.npy --labels y.npy --features 128 -o n.klift -q
expect 0 "train from stdin succeeds" bash -c "'$KLIFT' train - -o p.klift --features 128 -q <train.svm"
holds "a model from stdin is the model from the file" cmp p.klift m.klift
expect 0 "train from a pipe succeeds" bash -c "cat train.svm | '$KLIFT' train - -o p.klift --features 128 -q"
holds "a model from a pipe is the model from the file" cmp p.klift m.klift
expect 2 "train from stdin needs a model name" "$KLIFT" train -
expect 2 "train over its own data is refused" "$KLIFT" train train.svm -o ./train.svm
holds "the data are still there" cmp train.svm again.svm
expect 5 "a model in a folder that is not there is refused at once" "$KLIFT" train train.svm -o nowhere/m.klift
expect 5 "a --test file that is not there is refused at once" "$KLIFT" train train.svm -o w.klift --test nowhere.svm
holds "and no model is written" [ ! -e w.klift ]

mkdir cv && cd cv || exit 2
expect 0 "-v succeeds" "$KLIFT" train -v 5 -g 1 -c 10 ../train.svm --features 128
says "-v prints LIBSVM's line" out '^Cross Validation Accuracy = [0-9.]+%$'
holds "-v prints nothing else" [ "$(wc -l <out)" -eq 1 ]
holds "-v writes no model" [ -z "$(ls ./*.klift 2>/dev/null)" ]
cd .. || exit 2
expect 2 "-v with -o is refused" "$KLIFT" train -v 5 -o m.klift train.svm
expect 2 "-v 1 is refused" "$KLIFT" train -v 1 train.svm
expect 0 "-t 0 is the linear kernel" "$KLIFT" train -t 0 -o lin.klift train.svm -q
says "-t 0 prints the linear kernel" out '^kernel +linear'
expect 0 "-t 1 is the poly kernel" "$KLIFT" train -t 1 -g 0.5 -o p.klift train.svm -q --features 64
says "-t 1 has LIBSVM's degree and offset" out '^kernel +poly:degree=3,gamma=0.5,offset=0'
expect 0 "-d and -r are degree and offset" "$KLIFT" train -t 1 -d 2 -g 0.5 -r 1 -o p.klift train.svm -q --features 64
says "-d and -r are printed" out '^kernel +poly:degree=2,gamma=0.5,offset=1'
expect 0 "-t 3 is the sigmoid kernel" "$KLIFT" train -t 3 -g 0.01 -o s.klift train.svm -q --features 16 --prepare unit
says "-t 3 has LIBSVM's offset" out '^kernel +sigmoid:gamma=0.01,offset=0'
expect 0 "-t 2 -g is the gaussian kernel" "$KLIFT" train -t 2 -g 0.5 -o g.klift train.svm -q --features 64
says "-g sets gamma" out '^kernel +gaussian:.*0\.5'
expect 0 "-c sets lambda to 1 / (C n)" "$KLIFT" train -c 10 -o c.klift train.svm -q --features 64 --json
is_json "lambda is 1 / (C n)" out 'abs(j["lambda"] * 10 * 600 - 1) < 1e-9'

expect 0 "generate makes regression data" "$KLIFT" generate friedman reg.svm --rows 600
expect 0 "train regresses" "$KLIFT" train reg.svm --features 128 -o r.klift -q --task regress
says "a regression's cv error is a mean square" out '^cv error .*mean squared'
expect 0 "-v of a regression succeeds" "$KLIFT" train reg.svm --features 128 -v 3 -q --task regress
says "-v of a regression prints LIBSVM's line" out '^Cross Validation Mean squared error = [0-9.e+-]+$'

expect 0 "test succeeds" "$KLIFT" test m.klift test.svm
says "test prints the error" out '^error +[0-9.]+ %'
says "test prints a line per class" out '^class +rows +precision +recall'
says "test prints the confusion matrix" out '^true +predicted'
cp out order
expect 0 "test takes model and data in either order" "$KLIFT" test test.svm m.klift
holds "either order gives the same" cmp out order
expect 0 "test --json succeeds" "$KLIFT" test --json m.klift test.svm
is_json "test --json has exactly the promised keys" out 'sorted(j) == sorted("rows error accuracy seconds".split()) and j["rows"] == 200'
expect 0 "test of a regression succeeds" "$KLIFT" test r.klift reg.svm --json
is_json "test --json of a regression has its keys" out 'sorted(j) == sorted("rows rmse relative_rmse r2 seconds".split()) and j["r2"] > 0.5'
expect 0 "test of NPY succeeds" "$KLIFT" test n.klift x.npy --labels y.npy --json

expect 0 "inspect describes a model" "$KLIFT" inspect m.klift
says "inspect of a model shows the kernel" out '^kernel +gaussian'
expect 0 "inspect --json of a model succeeds" "$KLIFT" inspect --json m.klift
is_json "inspect --json of a model is JSON" out 'j["features"] == 128'
expect 0 "inspect describes data" "$KLIFT" inspect train.svm
says "inspect of data shows the rows" out '^rows +600'
expect 0 "inspect --json of data succeeds" "$KLIFT" inspect --json train.svm
is_json "inspect --json of data is JSON" out 'j["rows"] == 600'
expect 0 "inspect reads stdin" bash -c "cat train.svm | '$KLIFT' inspect -"

for topic in kernels maps learners formats options data; do
    expect 0 "list $topic succeeds" "$KLIFT" list $topic
    holds "list $topic lists something" [ -s out ]
    expect 0 "list --json $topic succeeds" "$KLIFT" list --json $topic
    is_json "list --json $topic is an array of named objects" out 'len(j) > 0 and all("name" in e for e in j)'
done
says "list maps tells which kernels fit" <("$KLIFT" list maps) 'kernels: .*gaussian'
expect 0 "list alone succeeds" "$KLIFT" list
says "list alone lists everything" out '^kernels$'
expect 0 "list --json alone succeeds" "$KLIFT" list --json
says "list options lists the settings of spec, run and data" <("$KLIFT" list options) 'max-memory=auto'
is_json "list --json alone is one object" out 'set(j) == set("kernels maps learners formats options data".split())'
expect 2 "list of an unknown topic is a usage error" "$KLIFT" list kernel
says "an unknown topic of list is answered with the nearest" err 'did you mean kernels'

# kernels of the inner product
for kernel in poly:degree=7 exp vovk vovk-infinite series:1,1,0.5; do
    expect 0 "train with $kernel succeeds" "$KLIFT" train train.svm --prepare maxnorm --kernel "$kernel" --features 100 -o product.klift
    says "auto takes maclaurin for $kernel" out '^map +maclaurin:'
    expect 0 "predict with $kernel succeeds" "$KLIFT" predict product.klift test.svm product.txt
done
expect 3 "rows outside a kernel's domain are refused" "$KLIFT" train train.svm --prepare maxnorm --kernel vovk-infinite:scale=0.5 -o product.klift
says "what to do about rows outside the domain is said" err '[-]-prepare unit .*raise scale above 1'
expect 2 "a negative offset is a usage error" "$KLIFT" train train.svm --kernel poly:offset=-1
expect 2 "coefficients that are all 0 are a usage error" "$KLIFT" train train.svm --kernel series:0,0
expect 2 "h01 without room for it is a usage error" "$KLIFT" train train.svm --prepare maxnorm --kernel poly --map maclaurin:h01=true --features 3
expect 0 "a search goes on where one of its kernels does not suit the rows" "$KLIFT" train train.svm --prepare maxnorm --kernel exp:sigma=search --features 64 --verbose -o product.klift
says "a kernel that a search leaves out is named with the reason" err 'sigma [0-9.]+: left out: .*float32'

# kernels of histograms, and kernels of kernels
expect 3 "negative values are refused by chi2" "$KLIFT" train train.svm --kernel chi2 -q
says "the refusal names the column and what to do" err 'column [0-9]+ is as low as -.*--prepare minmax'
expect 0 "chi2 trains on shifted columns" "$KLIFT" train x.npy --labels y.npy --kernel chi2 --prepare minmax --features 64 -o h.klift
says "auto takes homogeneous" out '^map +homogeneous'
expect 0 "and predicts rows below the lowest" bash -c "awk 'NR <= 20 { print \"0 1:-1e3 2:-1e3\" }' train.svm >low.svm && '$KLIFT' predict h.klift low.svm low.out -q"
holds "one prediction per row" [ "$(wc -l <low.out)" -eq 20 ]
expect 0 "a kernel of a kernel trains" "$KLIFT" train train.svm --kernel 'compose(exp, laplacian)' --features 64 -o c.klift
says "it is printed with what was learnt" out '^kernel +compose\(exp:sigma=[0-9.]+, laplacian:gamma=[0-9.]+\)'
says "the constant's column is counted" out '^features +65'
says "and told" err 'one is for the kernel.s constant'
expect 0 "with other threads and batches too" "$KLIFT" train train.svm --kernel 'compose(exp, laplacian)' --features 64 -o c1.klift --threads 1 --batch 7 -q
holds "which do not change the model" cmp c.klift c1.klift
expect 0 "its model is inspected" "$KLIFT" inspect c.klift
says "with the kernel in full" out 'compose\(exp:sigma'
expect 0 "and predicts" "$KLIFT" predict c.klift test.svm c.out -q
expect 2 "an outer kernel that is none is refused" "$KLIFT" train train.svm --kernel 'compose(gaussian, exp)'
says "with the ones that are" err 'poly, exp, vovk'
expect 2 "a map that does not fit is refused" "$KLIFT" train train.svm --kernel 'compose(exp, gaussian)' --map tree
says "with the maps that do" err 'compose.exp, gaussian.; maps that fit it: fourier, orthogonal'

# svm: several passes over features that are kept, made again, or in a temporary file
"$KLIFT" generate spirals spiral.svm --rows 20000 --seed 3 -q
svm="--learner svm:loss=hinge,passes=20 --kernel gaussian:gamma=40 --features 128 -c 2"
# shellcheck disable=SC2086
expect 0 "svm trains" "$KLIFT" train spiral.svm $svm -o svm.klift
says "svm says how near it came" err '^klift: note: objective [0-9.e+]+, duality gap [0-9.e-]+ of it, [0-9]+ passes$'
says "the learner is printed with its parameters" out '^learner +svm:loss=hinge,epsilon=0.1,bias=1,tolerance=0.001,passes=20,classes=one-vs-rest,cache=auto$'
# shellcheck disable=SC2086
expect 0 "svm with little memory makes features again" "$KLIFT" train spiral.svm $svm --max-memory 12M --verbose -o again.klift
says "its plan says so" err 'features of 4096 rows, made in every pass'
holds "the model is the same" cmp svm.klift again.klift
expect 0 "svm from a pipe" sh -c 'cat spiral.svm | "$1" train - '"$svm"' -o piped.klift' sh "$KLIFT"
holds "gives the model of the file" cmp svm.klift piped.klift
says "and says what was known of it" err '^klift: note: the input can be read once only: width, scales and gamma come from its first 16384 rows$'
expect 0 "svm from a pipe with little memory" sh -c 'cat spiral.svm | "$1" train - '"$svm"' --max-memory 12M -o spilt.klift' sh "$KLIFT"
says "spills to a temporary file" err 'the features go to a temporary file$'
holds "and gives the model of the file" cmp svm.klift spilt.klift
expect 5 "no folder for the temporary file is an I/O error" sh -c 'cat spiral.svm | TMPDIR=/nowhere "$1" train - '"$svm"' --max-memory 12M -o spilt.klift' sh "$KLIFT"
says "that says what to do" err 'set TMPDIR to a folder with room'
# shellcheck disable=SC2086
expect 0 "svm trains on rounded features" "$KLIFT" train spiral.svm $svm --cache bf16 --verbose -o half.klift
says "and the model says so" out 'classes=one-vs-rest,cache=bf16$'
# shellcheck disable=SC2086
expect 0 "and so by the learner's text" "$KLIFT" train spiral.svm ${svm/passes=20/passes=20,cache=bf16} -o text.klift
holds "which is the same" cmp half.klift text.klift
# shellcheck disable=SC2086
expect 0 "with little memory from a file" sh -c 'cat spiral.svm | "$1" train - '"$svm"' --cache bf16 --max-memory 8M -o spilt.klift' sh "$KLIFT"
says "that the features went to" err 'the features go to a temporary file$'
holds "too" cmp half.klift spilt.klift
expect 0 "ridge trains on whole numbers" "$KLIFT" train spiral.svm --cache int16 --verbose -o whole.klift
says "and the model says so" out '^learner +ridge:cache=int16$'
expect 2 "but not on short floats" "$KLIFT" train spiral.svm --cache bf16
says "and says so" err "cache is 'bf16'; it must be one of float32|int16"
expect 2 "nor does a learner that rounds nothing" "$KLIFT" train spiral.svm --learner sgd --cache bf16
says "and says so" err 'learner sgd has no cache: leave it out'
expect 2 "a cache of another kind is refused" "$KLIFT" train spiral.svm --learner svm --cache half
# shellcheck disable=SC2086
expect 0 "a width is searched for svm too" "$KLIFT" train spiral.svm --learner svm --kernel gaussian:gamma=search --features 64 -o searched.klift
# its references, in builds that found LIBLINEAR and LIBSVM
for reference in liblinear:loss=hinge libsvm; do
    if ! "$KLIFT" train train.svm --learner $reference --features 64 -o reference.klift -q >/dev/null 2>&1; then
        skip "learner $reference: its library was not there when klift was built, or is not here"
        continue
    fi
    expect 0 "$reference is listed" "$KLIFT" list learners
    says "as a reference" out "^ *${reference%:*} .*reference for svm"
    expect 0 "$reference trains" "$KLIFT" train train.svm --learner $reference --features 64 -o reference.klift
    says "and says its objective" err '^klift: note: objective [0-9.e+]+$'
    expect 0 "and predicts" "$KLIFT" predict reference.klift test.svm reference.out -q
    expect 2 "$reference holds no rows out" "$KLIFT" train train.svm --learner $reference --features 64 -v 5
    says "and says who does" err 'leave search out, or use --learner svm'
    case $reference in libsvm) continue ;; esac # whose cache alone is more than this
    expect 6 "$reference refuses rows from a pipe that are too many" sh -c 'cat spiral.svm | "$1" train - --features 128 --max-memory 30M -o reference.klift --learner '$reference sh "$KLIFT"
    says "with the sizes" err 'all rows at 16 bytes per value: [0-9]+ MB and [0-9]+ MB of features, the limit is [0-9]+ MB'
done
"$KLIFT" generate rings circle.svm --rows 2000 -q
expect 0 "nystrom of sigmoid has 128 landmarks on a circle, where most of its eigenvalues are nearly zero" "$KLIFT" train circle.svm --prepare unit --kernel sigmoid --map nystrom --features 128 -o circle.klift
