# 9_examples.sh - every line below "Examples:" of klift --help, of every command and of every topic is a command that works.
# They run in one folder that has the files they name, in the order of the pages. The maps get 64 features instead of what
# the example asks for: it is the lines that are tested, not the machine.
mkdir -p examples/bin && cd examples || exit 2
cat >bin/klift <<END
#!/bin/sh
case "\$1 \$*" in
train\ * | transform\ *) case "\$*" in *--model*) ;; *) set -- "\$@" --features 64 ;; esac ;;
esac
exec "$KLIFT" "\$@"
END
chmod +x bin/klift
byte() { printf "\\$(printf %03o $(($1 % 256)))"; }
{
    for name in data train test new part-1 part-2; do "$KLIFT" generate spirals $name.svm --rows 200 -q; done
    gzip part-1.svm part-2.svm
    xz -k new.svm
    "$KLIFT" generate spirals x.npy --labels y.npy --rows 200 -q
    awk 'BEGIN { print "id,rooms,area,price"; for (i = 1; i <= 60; i++) print i "," i % 5 + 1 "," (i % 7 ? 50 + i * 7 % 40 : "") "," 1000 + i * 3.5 }' >houses.csv
    { printf '\0\0\10\3\0\0\0\74\0\0\0\2\0\0\0\2'; for i in $(seq 240); do byte $((i * 37 + i * i)); done; } | gzip >images.idx.gz
    { printf '\0\0\10\1\0\0\0\74'; for i in $(seq 60); do byte $((i % 3)); done; } | gzip >labels.idx.gz
    "$KLIFT" help config | sed -n 's/^  //; /^# board.conf/,/^$/p' >board.conf
    cp board.conf my.conf
    "$KLIFT" train train.svm --features 64 -o m.klift -q
} >log 2>&1
holds "the example of a configuration file is in help config" [ "$(grep -c = board.conf)" -ge 3 ]

# examples FILE: the lines of its Examples, without the remarks at their right
examples() { sed -n '/^Examples:$/,/^$/{ /^Examples:$/d; /^$/d; s/^\(  [^ ].*[^ ]\)   .*/\1/; p; }' "$1"; }
run_page() { # NAME ARGUMENT...: the page is klift ARGUMENT...
    local name=$1 line status run=0
    shift
    "$KLIFT" "$@" >page
    examples page >lines
    while IFS= read -r line; do
        case $line in
        *xzcat*) command -v xz >/dev/null || { skip "$line (no xz)"; run=$((run + 1)); continue; } ;;
        "  "*klift*) ;;
        *) not_ok "$name: an example is a command" "$line"; continue ;;
        esac
        run=$((run + 1))
        # whoever pipes into head may end by SIGPIPE
        PATH="$PWD/bin:$PATH" bash -o pipefail -c "$line" >out 2>err </dev/null
        status=$?
        if [ $status -eq 0 ] || { [ $status -eq 141 ] && [[ $line == *"| head"* ]]; }; then ok "$name: $line"; else
            not_ok "$name: $line" "exit $status" "$(tail -n 2 err)"; fi
    done <lines
    holds "$name: all its examples are run" [ $run -gt 0 -a $run -eq "$(sed -n '/^Examples:$/,/^$/p' page | grep -c '^  ')" ]
}
run_page "klift --help" --help
for name in $commands; do run_page "klift $name --help" "$name" --help; done
for name in $topics; do run_page "klift help $name" help "$name"; done
cd .. || exit 2
