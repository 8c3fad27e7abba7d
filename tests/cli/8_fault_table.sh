# 8_fault_table.sh - every way a line of LIBSVM text is known to break: the exit code, the place, a word of the message.
# Four good rows, then the line in question: it is line 5.
sed -n 1,4p train.svm >good.svm
fault() { # CODE PLACE WORD LINE OPTIONS...: PLACE and WORD are patterns, - is none
    local code=$1 place=$2 word=$3 line=$4
    shift 4
    { cat good.svm; printf "$line"; } >fault.svm
    expect "$code" "line '$line' $* ends with $code" "$KLIFT" train fault.svm --features 16 -o fault.klift "$@"
    [ "$place" = - ] || says "  at $place" err "^klift: fault.svm:$place: "
    [ "$word" = - ] || says "  says '$word'" err "$word"
}
fault 3 5:5 'not finite' '1 1:nan 2:1\n'
fault 0 - - '1 1:nan 2:1\n' --missing zero
fault 0 - '1 rows with missing values are skipped' '1 1:nan 2:1\n' --missing skip
fault 3 5:5 'not finite' '1 1:inf\n' --missing zero
fault 3 5:5 'out of range' '1 1:1e400\n'
fault 0 - - '1 1:1e-400\n'
fault 3 5:5 'not a decimal number' '1 1:0x1p3\n'
fault 3 5:1 'not finite' 'nan 1:1\n'
fault 3 - 'fraction' '1.5 1:1\n' --task classify
fault 0 - - '1.5 1:1\n' --task regress
fault 0 - - '99999999999 1:1\n'
fault 3 5:1 'say --label-type text' 'word 1:1\n'
fault 0 - - 'word 1:1\n' --label-type text
fault 3 5:1 'no-label' '1:1 2:1\n'
fault 0 - - '1\n'
fault 3 5:7 'twice' '1 1:1 1:2\n'
fault 3 5:7 'sort-indices' '1 3:1 2:1\n'
fault 0 - - '1 3:1 2:1\n' --sort-indices
fault 0 - - '1 0:1 2:1\n'
fault 3 5:3 'say --index-base 0' '1 0:1 2:1\n' --index-base 1
fault 3 5:3 'negative' '1 -1:1\n'
fault 3 5:3 'above the highest' '1 2147483647:1\n'
fault 3 5:3 'above the highest' '1 4294967297:1\n'
fault 3 5:3 'above the highest' '1 9223372036854775808:1\n'
fault 3 5:4 'not index:value' '+1 1 2\n'
fault 3 5:5 'missing' '1 1:\n'
fault 3 5:5 'not a decimal number' '1 1:0.5abc\n'
fault 3 5:5 'decimal comma' '1 1:0,5\n'
fault 3 5:3 'blank before' '1 1 : 0.5\n'
fault 3 5:6 'NUL' '1 1:1\0 2:1\n'
fault 0 - - '1\t1:1 2:1  \r\n1 2:1'
fault 3 5:6 'CR only' '1 1:1\r1 2:2\r'
fault 0 - '1 blank line is skipped' '\n1 1:1\n'
fault 0 - - '# a comment\n1 1:1 # another\n'
fault 0 - 'qid is ignored' '1 qid:3 1:1\n'
fault 3 5:1 'multi-label' '1,2 1:1\n'
fault 3 5:1 'looks like CSV' '1,2,3\n'
fault 3 5:1 'label' '\377\200\001\002 \203\n'

printf '\357\273\277' | cat - good.svm >bom.svm
expect 0 "a byte order mark is skipped" "$KLIFT" train bom.svm --features 16 -o fault.klift
printf '\377\3761\0 \0001\0' >utf16.svm
expect 3 "UTF-16 is refused" "$KLIFT" train utf16.svm --features 16 -o fault.klift
says "  with its name" err 'UTF-16'
expect 0 "one class is trained when it is allowed" "$KLIFT" train one-class.svm --features 16 --allow-one-class -o one.klift
"$KLIFT" predict one.klift one-class.svm >out 2>err
holds "  and always answered" [ "$(sort -u out)" = 1 ]
expect 3 "one class is refused otherwise" "$KLIFT" train one-class.svm --features 16 -o one.klift
says "  with the way out" err 'allow-one-class'
expect 3 "columns beyond the model's are refused" "$KLIFT" predict m.klift wide.svm
says "  with the place and the way out" err 'wide\.svm:1:[0-9]+: .*ignore-extra'
expect 0 "or left out when asked for" "$KLIFT" predict --ignore-extra m.klift wide.svm
says "  and counted" err 'entries beyond column'
