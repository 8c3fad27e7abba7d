# 1_help.sh - help, version, mistyped commands and options. Sourced by run.sh.
"$KLIFT" >out 2>err; status=$?
holds "klift alone is a usage error" [ $status -eq 2 ]
holds "klift alone prints nothing on stdout" [ ! -s out ]
says "klift alone prints the usage on stderr" err '^usage: klift COMMAND'
expect 0 "--help succeeds" "$KLIFT" --help
says "--help lists the commands on stdout" out '^  generate '
expect 0 "--version succeeds" "$KLIFT" --version
says "--version prints name and version" out '^klift [0-9]+\.[0-9]+\.[0-9]+$'
cp out version
expect 0 "version is a command too" "$KLIFT" version
holds "version and --version agree" cmp out version
commands=$("$KLIFT" --help | sed -n '/^usage/,/explains:$/s/^  \([a-z]*\)  .*/\1/p' | grep -vx -e help -e version)
topics=$("$KLIFT" --help | sed -n '/explains:$/,/^$/s/^  \([a-z-]*\)  .*/\1/p')
holds "--help names as many commands as there are" [ "$(echo $commands | wc -w)" -eq "$(ls "$home"/cli/cmd_*.c | wc -l)" ]
for command in $commands; do
    expect 0 "$command --help succeeds" "$KLIFT" $command --help
    says "$command --help has examples" out '^Examples:'
    cp out help
    expect 0 "help $command succeeds" "$KLIFT" help $command
    holds "help $command is $command --help" cmp out help
    COLUMNS=60 "$KLIFT" $command --help | sed '/^Examples:/,$d' | awk 'length($0) > 60 { bad = 1 } END { exit bad }'
    holds "$command --help fits 60 columns" [ $? -eq 0 ]
done
for topic in kernels maps learners specs data prepare lambda libsvm config environment exit-codes; do
    holds "help lists the topic $topic" grep -qx "$topic" <<<"$topics"
done
"$KLIFT" --help >help
expect 0 "help alone succeeds" "$KLIFT" help
holds "help alone is --help" cmp out help
for topic in $topics; do
    expect 0 "help $topic succeeds" "$KLIFT" help "$topic"
    holds "help $topic says something" [ "$(wc -l <out)" -gt 5 ]
    holds "help $topic has examples" grep -q '^Examples:' out
    COLUMNS=62 "$KLIFT" help "$topic" | sed '/^Examples:/,$d' | awk 'length($0) > 62 && !/ (one of )?[^ ]{30,}$/ && !/^  / { bad = 1 } END { exit bad }'
    holds "help $topic fits 62 columns" [ $? -eq 0 ]
done
for word in $("$KLIFT" list options | tr -d '\n ' | grep -o 'none|unit[a-z|-]*' | tr '|' ' '); do
    "$KLIFT" help prepare >out
    says "help prepare explains $word" out "^  $word( |$)"
done
for list in kernels maps learners; do
    "$KLIFT" help $list >out
    for name in $("$KLIFT" list $list | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do says "help $list has $name" out "^  $name  "; done
done
"$KLIFT" help libsvm >out
for flag in c t g v q s e p B w b r d n h m; do says "help libsvm has -$flag" out "^  -$flag "; done
expect 2 "an unknown topic is a usage error" "$KLIFT" help enviroment
says "an unknown topic is answered with the nearest topic" err "did you mean 'environment'"
expect 2 "a topic like nothing is a usage error" "$KLIFT" help xyzzyxyzzy
says "and told where the topics are" err 'klift help lists'
expect 2 "two topics are a usage error" "$KLIFT" help maps kernels
expect 2 "an unknown map is answered" "$KLIFT" train --map furier data.svm
says "with the nearest map" err 'fourier'
expect 2 "an unknown learner is answered" "$KLIFT" train --learner rigde data.svm
says "with the nearest learner" err 'ridge'
expect 2 "an unknown kernel is answered" "$KLIFT" train --kernel laplacan data.svm
says "with the nearest kernel" err 'laplacian'
expect 2 "an unknown command is a usage error" "$KLIFT" trian data.svm
says "an unknown command is answered with the nearest" err "did you mean 'train'"
expect 2 "help for an unknown topic is a usage error" "$KLIFT" help preditc
says "an unknown topic is answered with the nearest" err "did you mean 'predict'"
expect 2 "an unknown option is a usage error" "$KLIFT" train --kernal linear data.svm
says "an unknown option is answered with the nearest" err 'did you mean --kernel\?'
expect 2 "one dash for two is a usage error" "$KLIFT" train -kernel linear data.svm
says "one dash for two is answered with two" err 'did you mean --kernel\?'
expect 2 "an option of another command is a usage error" "$KLIFT" predict --kernel linear m d
says "an option of another command is said to be one" err 'it belongs to: train transform'
expect 2 "an option without its value is a usage error" "$KLIFT" train data.svm --kernel
expect 2 "a flag with a value is a usage error" "$KLIFT" train data.svm --json=yes
expect 2 "a missing argument is a usage error" "$KLIFT" train
says "a missing argument is answered with the usage" err 'usage: klift train'
expect 2 "an argument too many is a usage error" "$KLIFT" test a b c
for flag in n h m; do
    expect 2 "LIBSVM's -$flag is refused" "$KLIFT" train -$flag 1 data.svm
done
expect 2 "a type that klift has not names klift's option" "$KLIFT" train -s 1 data.svm
says "-s is answered with --learner" err '[-]-learner'
expect 2 "-m names klift's option" "$KLIFT" train -m 100 data.svm
says "-m is answered with --max-memory" err '[-]-max-memory'
expect 2 "-t 4 is refused" "$KLIFT" train -t 4 data.svm
says "-t 4 is answered with --kernel" err '[-]-kernel'
expect 2 "-t 3 with a degree is refused" "$KLIFT" train -t 3 -g 1 -d 2 data.svm
expect 2 "-t 1 without -g is refused" "$KLIFT" train -t 1 data.svm
says "-t 1 asks for -g" err 'needs -g'
expect 2 "-d without -t 1 is refused" "$KLIFT" train -d 3 data.svm
says "-d is told to be of no use" err '[-]d says nothing about the gaussian kernel'
expect 2 "-r with the linear kernel is refused" "$KLIFT" train -t 0 -r 1 data.svm
expect 2 "-d beside --kernel is refused" "$KLIFT" train -d 3 --kernel poly data.svm
expect 2 "a degree that is no number is refused" "$KLIFT" train -t 1 -g 1 -d x data.svm
expect 2 "-g with the linear kernel is refused" "$KLIFT" train -t 0 -g 1 data.svm
expect 2 "-g beside --kernel is refused" "$KLIFT" train -g 1 --kernel linear data.svm
