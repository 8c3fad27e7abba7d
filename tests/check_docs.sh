#!/usr/bin/env bash
# The documents are true as far as a script can see: the commands they show are run and end well, links lead to files of the tree
# (and to headings of them), every kernel and map of `klift list` has its page, every test that docs/promises.md names is there.
set -u
klift=$(cd "$(dirname "${KLIFT:-build/klift}")" && pwd)/$(basename "${KLIFT:-build/klift}")
cd "$(dirname "$0")/.." || exit 1
[ -x "$klift" ] || { echo "$klift is not built"; exit 1; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
bad=0
complain() { echo "$1"; bad=1; }
mkdir "$dir/bin" && ln -s "$klift" "$dir/bin/klift"

# Every command that a document shows is in a block ```sh, whose first line says what becomes of it:
#   # run                       run here, in order, in one folder per document that holds small files of the names used
#   # run with KLIFT_DATA       the same when KLIFT_DATA names a folder with adult/, cpuact/ and mnist/ (and ijcnn1/, where a block names it)
#   # run by tests/check_X.sh   another test does what the block shows
#   # in the source tree        make, scripts/ and tests/ of this tree, which would take too long: targets and files must exist
pages=$(git ls-files '*.md' 2>/dev/null || find . -name '*.md' -not -path './build*')
commands='(klift [a-z]|[$] |svm-|make( |$)|cmake |cc |gcc |python3 |(build|scripts|tests|fuzz|[.]ci)/|sudo |apt-get |git |export )'

# blocks FILE FOLDER: its ```sh blocks as FOLDER/1, 2, ...: place and mark in the first two lines. Commands elsewhere are told.
blocks() {
    awk -v folder="$2" -v file="$1" -v commands="^$commands" '
        function told(line) { sub(/^    /, "", line); if (line ~ commands) print file ":" NR ": a command outside a block that is run: " line }
        /^```/ { if (inside) { if (inside == 1) close(out); inside = 0 } else { inside = /^```sh$/ ? 1 : 2; out = folder "/" ++count
                 if (inside == 1) print "# " file ":" NR >out; else count-- } next }
        inside == 1 { print >out }
        inside == 2 && !/^[\/ ]/ { told($0) }
        !inside && /^    / { told($0) }
    ' "$1"
}
# A small file for each name that documents use for files of the reader.
supply() {
    "$klift" generate spirals data.svm --rows 300 -q
    cp data.svm train.svm && "$klift" generate spirals test.svm --rows 100 --seed 2 -q
    "$klift" generate spirals landmarks.svm --rows 64 --seed 3 -q
    "$klift" generate spirals x.npy --rows 300 --labels y.npy -q
    awk 'BEGIN { print "id,rooms,area,address,price"; for (i = 1; i <= 200; i++) printf "%d,%d,%s,street %d,%.2f\n", i, i % 5 + 1, i % 7 ? 50 + i % 31 : "", i, 100 + 20 * (i % 5) + i % 31 + 0.25 }' >houses.csv
    head -n 5 houses.csv | cut -d , -f 1-4 >new.csv
}
# The data sets under the names that their distributors and README.md give them.
supply_data() {
    ln -s "$data/adult" "$data/cpuact" "$data"/mnist/* . && ln -s "$data/adult/train.svm" a9a && ln -s "$data/adult/test.svm" a9a.t
    [ ! -e "$data/ijcnn1" ] || ln -s "$data/ijcnn1" .
}
data=${KLIFT_DATA:-}
for file in adult/train.svm adult/test.svm cpuact/train.svm cpuact/test.svm mnist/train-images-idx3-ubyte; do
    [ -n "$data" ] && [ -e "$data/$file" ] || data=
done
[ -z "$data" ] || data=$(cd "$data" && pwd)

# in_tree BLOCK: targets of make are in the Makefile (or in that of examples/), scripts are there
in_tree() {
    local line word
    sed '1,2d; s/#.*//' "$1" | while read -r line; do
        for word in $line; do
            case $word in
            make | *=* | -* | '"'* | *'"' | '['* | *']' | '&&') ;;
            scripts/* | tests/* | .ci/* | fuzz/*) [ -x "$word" ] || echo "there is no program $word" ;;
            [a-z]*) case $line in make*) grep -qE "^([a-z ]* )?$word( [a-z ]*)?:" Makefile || echo "make has no target $word" ;; export*) ;; *) echo "'$line' is no command of the source tree" ;; esac ;;
            esac
        done
    done
}
place() { sed -n '1s/^# //p' "$1"; }
run_block() { # BLOCK: in the folder of its document
    (cd "$dir/$name/place" && PATH="$dir/bin:$PATH" bash -eu -o pipefail "$1") >"$dir/log" 2>&1 </dev/null ||
        { tail -n 5 "$dir/log"; complain "$(place "$1"): the block fails"; return 1; }
}
# run FILE: its blocks in their order, in one folder
run() {
    local name=${1//\//_} number=0 block mark why
    mkdir -p "$dir/$name/blocks" "$dir/$name/place"
    blocks "$1" "$dir/$name/blocks" >"$dir/told"
    [ ! -s "$dir/told" ] || complain "$(cat "$dir/told")"
    while [ -e "$dir/$name/blocks/$((number + 1))" ]; do
        number=$((number + 1))
        block=$dir/$name/blocks/$number mark=$(sed -n 2p "$dir/$name/blocks/$number")
        if [ $number -eq 1 ]; then (cd "$dir/$name/place" && supply); fi
        case $mark in
        '# run')
            found=$((found + 1))
            [ -z "${KLIFT_TEST_QUICK:-}" ] || continue
            grep -q 'map spherical' "$block" && ! "$klift" list maps | grep -q '^  spherical ' && continue # KLIFT_SPHERICAL=0
            run_block "$block" || break; ran=$((ran + 1)) ;;
        '# run with KLIFT_DATA')
            [ -n "$data" ] && [ -z "${KLIFT_TEST_QUICK:-}" ] || { left=$((left + 1)); continue; }
            grep -q ijcnn1 "$block" && [ ! -e "$data/ijcnn1" ] && { left=$((left + 1)); continue; }
            [ -e "$dir/$name/place/a9a" ] || (cd "$dir/$name/place" && supply_data)
            run_block "$block" || break; ran=$((ran + 1)) ;;
        '# run by tests/'*.sh) [ -x "${mark#\# run by }" ] || [ -e "${mark#\# run by }" ] || complain "$(place "$block"): ${mark#\# run by } is not there" ;;
        '# in the source tree') why=$(in_tree "$block"); [ -z "$why" ] || complain "$(place "$block"): $why" ;;
        *) complain "$(place "$block"): the block does not begin with '# run', '# run with KLIFT_DATA', '# run by tests/...' or '# in the source tree'" ;;
        esac
    done
}
found=0 ran=0 left=0
for page in $pages; do run "$page"; done
[ $found -gt 0 ] || complain "no document has a block that begins with '# run'"
if [ -n "${KLIFT_TEST_QUICK:-}" ]; then
    echo "skipped: the commands of the documents (KLIFT_TEST_QUICK)"
elif [ $left -gt 0 ]; then
    echo "skipped: $left blocks of the documents that need data sets (set KLIFT_DATA to a folder with adult/, cpuact/ and mnist/)"
fi

# anchors FILE: its headings as a link names them
anchors() { sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'; }
links=0
for file in $pages; do
    for link in $(awk '/^```/ { inside = !inside; next } !inside' "$file" | grep -oE '\]\([^) ]+\)' | sed 's/^](//; s/)$//'); do
        case $link in *://* | mailto:*) continue ;; esac
        links=$((links + 1))
        path=${link%%#*}
        target=$(dirname "$file")/$path
        [ -n "$path" ] || target=$file
        if [ ! -e "$target" ]; then
            complain "$file: the link $link leads nowhere"
        elif [ "$link" != "$path" ] && ! anchors "$target" | grep -qxF "${link#*#}"; then
            complain "$file: $target has no heading for the link $link"
        fi
    done
    # paths in the text, such as `docs/faq.md`: a word of a folder that is in the tree
    for path in $(awk '/^```/ { inside = !inside; next } !inside' "$file" | grep -oE '`(docs|tests|src|cli|include|scripts|fuzz)/[A-Za-z0-9_./-]+\.(md|c|h|sh|py)`' | tr -d '`' | sort -u); do
        links=$((links + 1))
        case $path in src/map/toy.c) continue ;; esac # what docs/adding_a_map.md adds
        [ -e "$path" ] || complain "$file: $path is not there"
    done
done
[ $links -gt 0 ] || complain "no link was found"

# Options named in the text, such as `--features`, are options of a command (--strict is named as one that is not there yet).
for command in train predict test transform inspect list generate doctor; do COLUMNS=200 "$klift" "$command" --help 2>/dev/null; done |
    grep -oE -- '--[a-z][a-z-]*' | sort -u >"$dir/options"
[ "$(wc -l <"$dir/options")" -gt 30 ] || complain "the help of the commands has hardly an option"
for page in $pages; do
    awk '/^```/ { inside = !inside; next } !inside' "$page" | grep -oE '`[^`]+`' | grep -oE -- '(^|[ `])--[a-z][a-z-]*' | tr -d ' `' | sort -u |
        grep -vxF -f "$dir/options" | grep -vx -- --strict >"$dir/told" && complain "$page: no command has the option $(tr '\n' ' ' <"$dir/told")"
done

listed=0
for kind in kernels maps; do
    for name in $("$klift" list $kind | sed -nE 's/^  ([a-z][a-z0-9-]*)( .*)?$/\1/p'); do
        listed=$((listed + 1))
        [ -s "docs/$kind/$name.md" ] || complain "$name of klift list $kind has no page docs/$kind/$name.md"
        grep -q "($name\.md)" "docs/$kind/README.md" || complain "docs/$kind/README.md does not list $name"
    done
done
[ $listed -gt 0 ] || complain "klift list names no kernel and no map"

# docs/promises.md names tests, `name_of_a_test` of a program or "a sentence" of a script, each behind the file it is in
named=0
while read -r what; do
    case $what in
    \`tests/*) file=${what//\`/} ;;
    *) named=$((named + 1))
        grep -qF -- "${what:1:-1}" "${file:-/dev/null}" || complain "docs/promises.md: $what is not in ${file:-any test}" ;;
    esac
done < <(grep '^|' docs/promises.md | grep -oE '`tests/[a-z0-9_/]+\.(c|sh)`|`[a-z0-9]+(_[a-z0-9]+)+`|"[^"]+"')
[ $named -gt 0 ] || complain "docs/promises.md names no test"
if command -v python3 >/dev/null; then
    cp docs/kernels/draw.py "$dir" && python3 "$dir/draw.py" || complain "docs/kernels/draw.py fails"
    for picture in docs/kernels/*.svg; do
        cmp -s "$picture" "$dir/$(basename "$picture")" || complain "$picture is not what docs/kernels/draw.py draws"
    done
fi
[ $bad -eq 0 ] && echo "documents: $ran blocks of commands run, $links links, $listed pages: right"
exit $bad
