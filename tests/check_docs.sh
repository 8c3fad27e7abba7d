#!/usr/bin/env bash
# The documents are true as far as a script can see: ```sh blocks that begin with '# run' end well, links lead to files of the
# tree (and to headings of them), every kernel and map of `klift list` has its page.
set -u
klift=$(cd "$(dirname "${KLIFT:-build/klift}")" && pwd)/$(basename "${KLIFT:-build/klift}")
cd "$(dirname "$0")/.." || exit 1
home=$PWD
[ -x "$klift" ] || { echo "$klift is not built"; exit 1; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
bad=0
complain() { echo "$1"; bad=1; }
mkdir "$dir/bin" && ln -s "$klift" "$dir/bin/klift"

# blocks FILE FOLDER: the marked blocks of FILE as FOLDER/1.sh, 2.sh, ...; the first line of each tells its place
blocks() {
    awk -v folder="$2" -v file="$1" '
        /^```/ { if (inside) { inside = marked = 0; if (out != "") close(out); out = "" } else { inside = /^```sh$/ ? 1 : 2; first = 1 } next }
        inside == 1 && first { first = 0; marked = $0 == "# run"; if (marked) { out = folder "/" ++count ".sh"; print "# " file ":" NR >out } next }
        marked { print >out }
    ' "$1"
}
# run FILE: its blocks in their order, in one folder
run() {
    local name=${1//\//_} number=0 count block
    mkdir -p "$dir/$name/blocks" "$dir/$name/work"
    blocks "$1" "$dir/$name/blocks"
    count=$(find "$dir/$name/blocks" -name '*.sh' | wc -l)
    [ "$count" -gt 0 ] || complain "$1: no block begins with '# run'"
    while [ $number -lt "$count" ]; do
        number=$((number + 1))
        block=$dir/$name/blocks/$number.sh
        (cd "$dir/$name/work" && PATH="$dir/bin:$PATH" bash -eu -o pipefail "$block") >"$dir/log" 2>&1 </dev/null ||
            { tail -n 5 "$dir/log"; complain "$(sed -n '1s/^# //p' "$block"): the block fails"; break; }
    done
    echo "$1: $number blocks run"
}
if [ -n "${KLIFT_TEST_QUICK:-}" ]; then
    echo "skipped: the commands of the documents (KLIFT_TEST_QUICK)"
else
    run README.md
    run docs/tutorial.md
fi

# anchors FILE: its headings as a link names them
anchors() { sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'; }
links=0
for file in $(find . -maxdepth 1 -name '*.md' | sort) $(find docs tests -name '*.md' | sort); do
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

pages=0
for kind in kernels maps; do
    for name in $("$klift" list $kind | sed -nE 's/^  ([a-z][a-z0-9-]*)( .*)?$/\1/p'); do
        pages=$((pages + 1))
        [ -s "docs/$kind/$name.md" ] || complain "$name of klift list $kind has no page docs/$kind/$name.md"
        grep -q "($name\.md)" "docs/$kind/README.md" || complain "docs/$kind/README.md does not list $name"
    done
done
[ $pages -gt 0 ] || complain "klift list names no kernel and no map"

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
[ $bad -eq 0 ] && echo "documents: $links links, $pages pages: right"
exit $bad
