# 9_manual.sh - the manual pages that make writes: complete, without a warning of man or mandoc, the same bytes every time.
(cd "$home" && packaging/share "$KLIFT" "$folder/share" && packaging/share "$KLIFT" "$folder/again") >log 2>&1
holds "manual pages and completion are written" [ $? -eq 0 ]
holds "with the same bytes again" diff -r share again
pages="klift.1"
for command in $commands; do pages="$pages klift-$command.1"; done
holds "there is a page for klift and for every command" [ "$(cd share/man/man1 && echo $(ls | LC_ALL=C sort))" = "$(echo $(tr ' ' '\n' <<<"$pages" | LC_ALL=C sort))" ]
holds "no page knows when it was made" [ -z "$(grep -l "$(date +%Y)" share/man/man?/*)" ]
"$KLIFT" help --man klift 2025-03-01 >dated.1
says "a release has its date" dated.1 '^\.TH KLIFT 1 "2025-03-01" "klift '
expect 2 "what is no date is refused" "$KLIFT" help --man klift 'x" "y'
expect 2 "there is no page of what is no command" "$KLIFT" help --man nothing

plain() { sed 's/\\-/-/g; s/\\f[BRI]//g; s/\\e/\\/g; s/\\(aq/'"'"'/g; s/\\(dq/"/g; s/\\(ha/^/g; s/\\(ti/~/g; s/\\(ga/`/g; s/\\&//g' "$1"; }
for command in $commands; do
    plain share/man/man1/klift-$command.1 >page
    "$KLIFT" $command --help >help
    holds "klift-$command(1) has every option of --help, in its order" \
        diff <(sed -n '/^Examples:/q; s/^  \( \{4\}\|-., \|\)\(-[^ ]*\).*/\2/p' help) <(awk '/^\.SH EXAMPLES/ { exit } /^\.TP/ { getline; sub(/^-., /, ""); print $1 }' page)
    holds "klift-$command(1) has its examples" diff <(sed -n '/^Examples:/,$s/^  //p' help) <(sed -n '/^\.SH EXAMPLES/,/^\.EE/p' page | grep -v '^\.')
    says "klift-$command(1) names klift(1)" page '^\.BR klift \(1\)'
done
plain share/man/man1/klift.1 >page
for name in $commands; do says "klift(1) names $name" page "^$name$"; done
for name in $("$KLIFT" list kernels | sed -nE 's/^  ([a-z][a-z0-9-]*)( .*)?$/\1/p') $("$KLIFT" list maps | sed -nE 's/^  ([a-z][a-z0-9-]*)( .*)?$/\1/p'); do
    says "klift(1) has $name" page "^$name$"
done
for topic in $topics; do
    title=$("$KLIFT" help "$topic" | sed -n '1s/:.*//p' | tr '[:lower:]' '[:upper:]')
    says "klift(1) has the topic $topic" page "^\.SH $title$"
done
plain share/man/man3/klift.3 >page
for name in $(tr '\n' ' ' <"$home/include/klift.h" | grep -oE 'KLIFT_API [^;]*;' | grep -oE 'klift_[a-z_]+\(' | tr -d '('); do
    says "klift(3) has $name" page "[ *]$name\("
done
for name in $(sed -n 's/^} \(klift_[a-z]*\);/\1/p' "$home/include/klift.h"); do says "klift(3) has the type $name" page "^} $name;"; done

if command -v man >/dev/null && man --warnings -l share/man/man1/klift.1 2>&1 >/dev/null | grep -q .; then
    not_ok "man shows klift(1) without a warning" "$(man --warnings -l share/man/man1/klift.1 2>&1 >/dev/null | head -n 3)"
elif command -v man >/dev/null; then
    for file in dated.1 share/man/man?/*; do
        MANWIDTH=80 man --warnings -l "$file" >shown 2>why </dev/null
        holds "man shows ${file##*/} without a warning" [ $? -eq 0 -a ! -s why -a -s shown ]
        case $file in *.1) holds "${file##*/} fits 80 columns" [ -z "$(grep -E '.{81}' shown)" ] ;; esac
    done
else
    skip "manual pages as man shows them (no man; Debian: man-db)"
fi
if command -v mandoc >/dev/null; then
    for file in dated.1 share/man/man?/*; do # an unreleased klift has no date
        mandoc -T lint "$file" 2>&1 | grep -v 'missing date, using ""' >why
        holds "mandoc finds nothing in ${file##*/}" [ ! -s why ]
    done
else
    skip "manual pages as mandoc sees them (no mandoc)"
fi
