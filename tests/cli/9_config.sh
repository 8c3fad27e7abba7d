# 9_config.sh - options from --config FILE: the grammar, what wins, every fault with its place.
conf() { printf -- "$1" >my.conf; } # printf's escapes
conf '# a comment\n\nkernel = gaussian:gamma=2   # another\n  features=64\nseed =\t7\nquiet = true\nscores = true\nlabel-type = "number"\n'
expect 0 "train takes options from a file" "$KLIFT" train train.svm --config my.conf -o by-file.klift
expect 0 "and from the command line" "$KLIFT" train train.svm --kernel gaussian:gamma=2 --features 64 --seed 7 -q --label-type number -o by-line.klift
holds "both give the same model: nothing else of the file is in it" cmp by-file.klift by-line.klift
expect 0 "the same file serves test" "$KLIFT" test by-file.klift test.svm --config my.conf
expect 0 "and predict" "$KLIFT" predict by-file.klift test.svm --config my.conf
holds "with the option that is predict's alone" grep -q '^label' out
for command in "transform train.svm z.npy" "inspect train.svm" "list maps" "generate rings rings.svm" "doctor"; do
    # shellcheck disable=SC2086
    expect 0 "$command takes --config" "$KLIFT" $command --config my.conf
done
expect 0 "the command line wins" "$KLIFT" train train.svm --features 32 --config my.conf -o won.klift
says "over the file" out '^features +32$'
says "for the option that it gives only" out '^kernel +gaussian:gamma=2$'
expect 0 "--config=FILE works, before and after" "$KLIFT" train --config=my.conf --features 32 train.svm -o won-2.klift
holds "the same" cmp won.klift won-2.klift
expect 0 "-g replaces the file's kernel" "$KLIFT" train train.svm -g 0.25 --config my.conf -o won.klift
says "wholly" out '^kernel +gaussian:gamma=0.25$'
conf 't = 2\ng = 0.5\nc = 10\nfeatures = 32\n'
expect 0 "letters are keys" "$KLIFT" train train.svm --config my.conf -o letters.klift
says "as -g is an option" out 'gamma=0.5'
expect 0 "--lambda replaces the file's c, --kernel its t and g" "$KLIFT" train train.svm --lambda 0.5 --kernel linear --config my.conf -o letters.klift
says "the lambda is that of the line" out '^lambda +0.5 \(given\)'
says "the kernel too" out '^kernel +linear'
expect 0 "transform --model replaces what makes a map" "$KLIFT" transform --model m.klift test.svm z.npy --config my.conf
conf 'kernel = linear\nmap = identity\nmodel = m.klift\n'
expect 2 "in one file model and kernel contradict each other as on the command line" "$KLIFT" transform test.svm z.npy --config my.conf
conf '\357\273\277features = 32\r\n\r\n# c\r\nkernel = linear\r\nquiet = false\r\nmap = "identity"'
expect 0 "byte order mark, CRLF and no newline at the end" "$KLIFT" train train.svm --config my.conf -o crlf.klift
says "give the same" out '^kernel +linear$'
says "quiet = false is not quiet" err '^klift: survey'
expect 0 "--verbose names the file" "$KLIFT" train train.svm --config my.conf --verbose -o crlf.klift
says "and what was taken from it" err 'options from my.conf: features kernel map; left aside: 1'
printf '%s\n' 'a "b" #1,z,y' 1,2,0 0,3,1 1,2,0 0,4,1 >sign.csv
conf 'ignore = "a ""b"" #1" # its name\nlabel=y\n'
expect 0 "a value in quotes keeps quotes, blanks and signs" "$KLIFT" inspect sign.csv --config my.conf --delimiter comma
conf 'labels = first.npy\nlabels = second.npy\n'
"$KLIFT" generate rings first-x.npy --labels first.npy --rows 100 -q
"$KLIFT" generate rings second-x.npy --labels second.npy --rows 150 --seed 2 -q
expect 0 "labels may be given once per file" "$KLIFT" train first-x.npy second-x.npy --config my.conf --features 16 -o two.klift
says "all rows are there" out '^rows +250$'
conf 'labels = nowhere.npy\nlabels = nowhere-else.npy\n'
expect 0 "labels of the command line replace all of the file's" "$KLIFT" train first-x.npy second-x.npy --config my.conf --features 16 -o two.klift \
    --labels first.npy --labels second.npy
: >my.conf
expect 0 "an empty file is no option" "$KLIFT" list maps --config my.conf
mkdir -p sub && cp first.npy sub/here.npy
conf 'labels = here.npy\n'
(cd sub && "$KLIFT" inspect ../first-x.npy --config ../my.conf --json >../out 2>../err)
holds "names of files in it are relative to the current folder" [ $? -eq 0 ]

# wrong CODE SENTENCE CONTENT PATTERN...: the message has them all
wrong() {
    local code=$1 sentence=$2 pattern
    conf "$3"
    shift 3
    expect "$code" "$sentence" "$KLIFT" train train.svm --config my.conf -o wrong.klift
    for pattern in "$@"; do says "  says $pattern" err "$pattern"; done
    holds "  writes no model" [ ! -e wrong.klift ]
}
wrong 2 "an unknown key is an error" '\n\nkernal = linear\n' '^klift: my.conf:3: ' "'kernal'" "did you mean 'kernel'"
wrong 2 "a key like nothing is an error" 'xyzzyxyzzy = 1\n' '^klift: my.conf:1: ' 'xyzzyxyzzy' 'klift help config'
wrong 2 "dashes before a key are an error" '--kernel = linear\n' '^klift: my.conf:1: ' 'no dashes' 'kernel ='
wrong 2 "no equals sign is an error" 'features 32\n' '^klift: my.conf:1: ' 'features 32' 'key = value'
wrong 2 "no key is an error" ' = 32\n' '^klift: my.conf:1: ' 'key = value'
wrong 2 "no value is an error" 'features =  \n' '^klift: my.conf:1: ' 'features has no value'
wrong 2 "a comment is no value" 'features = # many\n' 'features has no value'
wrong 2 "no value at the end of the file is an error" 'features =' 'my.conf:1: features has no value'
wrong 2 "a flag is true or false" 'quiet = yes\n' '^klift: my.conf:1: quiet is' 'true or false'
wrong 2 "also one of another command" 'scores = 1\n' '^klift: my.conf:1: scores'
wrong 2 "a quote must be closed" 'label = "x\n' '^klift: my.conf:1: ' 'label' 'quote'
wrong 2 "nothing follows a quote" 'label = "x"y\n' '^klift: my.conf:1: label' 'after the closing quote'
wrong 2 "files do not nest" 'config = other.conf\n' '^klift: my.conf:1: config'
wrong 2 "help is for the command line" 'help = true\n' '^klift: my.conf:1: help'
wrong 2 "a NUL byte is an error" 'features = 32\nseed\0 = 1\n' '^klift: my.conf:2:5: ' 'NUL'
wrong 2 "UTF-16 is an error" '\377\376f\0e\0' '^klift: my.conf:1:4: ' 'UTF-16'
wrong 2 "a value out of range is an error" 'seed = 1\nfeatures = 0\n' '^klift: my.conf:2: ' 'features'
wrong 2 "an unknown kernel is an error" 'kernel = gausian\n' '^klift: my.conf:1: ' 'gaussian'
wrong 2 "a bad setting of the run is an error" 'threads = none\n' '^klift: my.conf:1: ' 'threads'
wrong 2 "a bad option of the data is an error" 'format = svmlight\nindex-base = 7\n' '^klift: my.conf: ' 'index-base'
awk 'BEGIN { printf "label = "; for (i = 0; i < 5000; i++) printf "x"; print "" }' >long.conf
expect 2 "a line that is too long is an error" "$KLIFT" train train.svm --config long.conf
says "  with its place and the limit" err '^klift: long.conf:1: .* 4096 bytes'
awk 'BEGIN { printf "#"; for (i = 0; i < 4095; i++) printf "x"; print "" }' >long.conf
expect 0 "a line of 4096 bytes is not" "$KLIFT" list maps --config long.conf
conf 'labels = nowhere.npy\n'
expect 5 "a missing file that an option names is an I/O error" "$KLIFT" train first-x.npy --config my.conf
says "  that names it" err 'nowhere.npy'
expect 5 "a missing file is an I/O error" "$KLIFT" train train.svm --config nowhere.conf
says "  that names it" err 'config nowhere.conf: No such file'
mkdir -p folder.conf
expect 5 "a folder is an I/O error" "$KLIFT" train train.svm --config folder.conf
says "  that says so" err 'folder.conf.*directory'
expect 2 "--config without a name is a usage error" "$KLIFT" train train.svm --config
expect 2 "standard input is refused" "$KLIFT" train train.svm --config -
conf 'seed = 1\n'
expect 2 "two files are refused" "$KLIFT" train train.svm --config my.conf --config my.conf
says "  and counted" err '2 times'
conf 'kernal = 1\n'
expect 0 "--help does not look at the file" "$KLIFT" train --config my.conf --help
