# shellcheck shell=bash disable=SC2154,SC2016
# Progress: lines at doubling counts in a log; on a terminal one line that keeps to its width and is gone at the end.

"$KLIFT" generate spirals many.svm --rows 200000 -q
"$KLIFT" generate spirals few.svm --rows 1000 -q
work="train many.svm --kernel gaussian:gamma=40 --features 256 -o many.klift"

# shellcheck disable=SC2086
expect 0 "a training that takes a second" "$KLIFT" $work
says "a log has a line per doubled count of rows" err '^klift: statistics: 8192 of 200000 rows, [0-9]+ rows/s, [0-9.]+ s$'
holds "each count in a log is at least twice the one before it, but for the last" awk '
    /^klift: statistics: / { bad += last > 0 && $3 < 2 * last && $3 != $5; last = $3; seen++ } END { exit bad > 0 || seen < 5 }' err
says "a log has the end of a stage" err '^klift: statistics: 200000 of 200000 rows'
holds "a log has no escapes and no carriage returns" bash -c "! grep -q $'[\\033\\r]' err"
# shellcheck disable=SC2086
expect 0 "the same with -q" "$KLIFT" $work -q
holds "-q is silent" [ ! -s err ]
# shellcheck disable=SC2086
expect 0 "the same with --json" "$KLIFT" $work -q --json
is_json "stages have names and their times add up" out 'set(j["seconds"])=={"survey","statistics","search","solve","total"} and abs(sum(j["seconds"].values())-2*j["seconds"]["total"])<0.1*j["seconds"]["total"]+0.05'

# on_terminal COLUMNS SETTING COMMAND: what comes out of a terminal so wide, in file screen
on_terminal() { TERM=xterm SHELL=/bin/sh script -qec "stty cols $1 rows 24; env -u COLUMNS $2 $KLIFT $3" /dev/null </dev/null >screen 2>&1; }
# fits COLUMNS: every line drawn leaves three columns for the ^C of a terminal, so that it does not wrap
fits() { tr '\r' '\n' <screen | sed $'s/\033\\[[0-9;]*[Km]//g' | grep -a 'rows.*/s' | awk -v most="$1" 'length > most - 3 { bad = 1 } END { exit bad }'; }
if SHELL=/bin/sh script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    for columns in 60 80 200; do
        on_terminal $columns NO_COLOR=1 "$work"
        holds "a bar is drawn on a terminal of $columns columns" grep -q '^.*statistics \[=*> *\]  *[0-9]*%' screen
        holds "which keeps to its width" fits $columns
        holds "and is gone before the results" grep -q $'\r\033\\[Kkernel  ' screen
    done
    on_terminal 80 NO_COLOR=1 "train few.svm --features 16 -o few.klift"
    holds "a short run has no bar that flashes" bash -c "! grep -q $'\\033' screen || grep -qE '^seconds +(0\\.[2-9]|[1-9])' screen" # unless it was slow
    on_terminal 40 NO_COLOR=1 "$work"
    says "a terminal too narrow for a bar gets lines" screen '^klift: statistics: 8192 of'
    printf '1 1:1\n\n-1 1:2\n' >blank.svm
    on_terminal 80 LC_ALL=C "train blank.svm --features 8 --lambda 1 -o blank.klift"
    holds "warnings are coloured on a terminal" grep -q $'klift: \033\\[33mwarning:\033\\[0m ' screen
    on_terminal 80 NO_COLOR=1 "train blank.svm --features 8 --lambda 1 -o blank.klift"
    holds "but not with NO_COLOR" grep -q 'klift: warning: ' screen
else
    skip "progress on a terminal (no script(1), or no pseudo-terminal)"
fi
