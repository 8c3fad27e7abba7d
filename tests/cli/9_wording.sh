# shellcheck shell=bash disable=SC2154
# The library's messages name settings as programs set them; the command names its options, and nothing that users wrote changes.

printf '1 1:1\n-1 0:1\n' >base.svm
expect 3 "an index below the base" "$KLIFT" inspect base.svm --index-base 1
says "settings are told as options, with their values" err 'but --index-base 1 was given; say --index-base 0$'
printf '1:1\n' >bare.svm
expect 3 "a row without a label" "$KLIFT" inspect bare.svm
says "and without when they have none" err "say --no-label$"
printf "dim=5 1:1\n" >'dim=5 no-label=true'
expect 3 "a file and a label that look like settings" "$KLIFT" inspect 'dim=5 no-label=true'
says "stay as they are" err "^klift: dim=5 no-label=true:1:1: label 'dim=5' is not a decimal number"
says "beside the option" err "say --label-type text$"
expect 3 "rows without labels to train on" "$KLIFT" train bare.svm --no-label --features 8 --task classify
says "and where labels come from" err 'say --labels FILE$'
printf 'x,y\n1,2\n2,"a dim=5"\n' >quoted.csv
expect 3 "a quoted cell that looks like a setting" "$KLIFT" train quoted.csv --label y --label-type number --task regress
says "stays too" err "'a dim=5'.*say --label-type text"
