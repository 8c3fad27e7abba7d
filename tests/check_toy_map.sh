#!/usr/bin/env bash
# A map is one file and one registry line: adds tests/toy/toy.c to a copy of the tree and looks for it everywhere.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r "$here/Makefile" "$here/include" "$here/src" "$here/cli" "$copy"
mkdir "$copy/tests"
cp "$here/tests/test_map_contract.c" "$here"/tests/support.[ch] "$here"/tests/gram.[ch] "$copy/tests"
cp "$here/tests/toy/toy.c" "$copy/src/map/toy.c"
echo 'MAP(toy)' >>"$copy/src/map/map_list.h"
changed=$(diff -rq "$here/src" "$copy/src" | wc -l)
[ "$changed" -eq 2 ] || { echo "$changed files differ, not 2"; exit 1; }
env -u MAKEFLAGS make -C "$copy" BUILD=build OPTIMISE=-O1 SANITIZE= -j2 build/klift build/tests/test_map_contract >"$copy/log" 2>&1 || { tail -20 "$copy/log"; exit 1; }
klift=$copy/build/klift
cd "$copy"
"$klift" list maps | grep -q '^toy' || "$klift" list maps | grep -qw toy || { echo "toy is not listed"; exit 1; }
"$klift" generate friedman train.svm --rows 500 -q
"$klift" train train.svm --kernel linear --map toy --task regress -o toy.klift -q >summary
grep -q 'toy' summary || { echo "train does not name it"; cat summary; exit 1; }
"$klift" predict toy.klift train.svm first -q
"$klift" inspect toy.klift | grep -q toy || { echo "the saved model does not name it"; exit 1; }
"$klift" train train.svm --kernel linear --map identity --task regress -o identity.klift -q >/dev/null
"$klift" predict identity.klift train.svm second -q
[ "$(wc -l <first)" -eq 500 ] || { echo "no predictions"; exit 1; }
KLIFT_TEST_QUICK=1 KLIFT_TEST_MAP=toy build/tests/test_map_contract >contract 2>&1 || { cat contract; exit 1; }
grep -q 'contract: toy' contract || { echo "the contract test does not walk it"; cat contract; exit 1; }
# The commands of docs/adding_a_map.md print what stands below them there, line by line in this order ("..." at the end of one
# stands for more).
mkdir bin && ln -s "$klift" bin/klift
awk '/^```/ { inside = /^```sh/; next } inside' "$here/docs/adding_a_map.md" >block
COLUMNS=120 PATH=$copy/bin:$PATH bash block >printed 2>&1
awk '/^prints, shortened,$/ { on = 1; next } on && /^    / { sub(/^ */, ""); print; next } on && !/^$/ { exit }' "$here/docs/adding_a_map.md" >shown
[ "$(wc -l <shown)" -ge 10 ] || { echo "docs/adding_a_map.md shows no output"; exit 1; }
sed 's/^ *//' printed | awk '
    NR == FNR { want[++n] = $0; next }
    { line = want[at + 1]; if (line == $0 || (sub(/[.][.][.]$/, "", line) && index($0, line) == 1)) at++ }
    END { if (at < n) { print "docs/adding_a_map.md: not printed: " want[at + 1]; exit 1 } }' shown - || { cat printed; exit 1; }
echo "toy map: 2 files changed; listed, trained, saved, loaded, tested"
