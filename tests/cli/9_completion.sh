# 9_completion.sh - what Tab does in bash and zsh, from the scripts that make installs.
"$KLIFT" help --completion bash >klift.bash
"$KLIFT" help --completion zsh >_klift
expect 2 "there is no completion for other shells" "$KLIFT" help --completion csh
holds "bash can read its script" bash -n klift.bash
mkdir -p tab && cd tab || exit 2
: >alpha.svm && : >alpine.npy && : >"beta b.svm"

# press LINE: the answers for Tab at its end, sorted. Words are cut as bash cuts them, at blanks, : and =.
cat >press.sh <<'END'
. "$1"
COMP_LINE=$2 COMP_POINT=${#2} COMP_WORDS=()
for word in $COMP_LINE; do
    while [[ $word =~ ^([^:=]*)([:=])(.*)$ ]]; do
        [ -n "${BASH_REMATCH[1]}" ] && COMP_WORDS+=("${BASH_REMATCH[1]}")
        COMP_WORDS+=("${BASH_REMATCH[2]}")
        word=${BASH_REMATCH[3]}
    done
    [ -n "$word" ] && COMP_WORDS+=("$word")
done
[[ $COMP_LINE == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_klift klift "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort
END
press() { bash --norc press.sh ../klift.bash "$1" 2>&1; }
tab() { # LINE ANSWER...
    local line=$1 got wanted
    shift
    got=$(press "$line")
    wanted=$([ $# -eq 0 ] || printf '%s\n' "$@" | LC_ALL=C sort)
    if [ "$got" = "$wanted" ]; then ok "bash: '$line' and Tab"; else not_ok "bash: '$line' and Tab" "got:" "$got" "instead of:" "$wanted"; fi
}
tab "klift tr" train transform
tab "klift tra" train transform
tab "klift " $commands help version --help --version
tab "klift train --ker" --kernel
tab "klift train --kernel ga" gaussian
tab "klift train --kernel=ga" gaussian
tab "klift train --kernel " $("$KLIFT" list kernels | sed -n 's#^  \([a-z][a-z0-9-]*\)\(  .*\)\{0,1\}$#\1#p')
tab "klift train --kernel=" $("$KLIFT" list kernels | sed -n 's#^  \([a-z][a-z0-9-]*\)\(  .*\)\{0,1\}$#\1#p')
tab "klift train --map " auto $("$KLIFT" list maps | sed -n 's#^  \([a-z][a-z-]*\)\(  .*\)\{0,1\}$#\1#p')
tab "klift transform --lear"
tab "klift train --learner " $("$KLIFT" list learners | sed -n 's#^  \([a-z][a-z-]*\)\(  .*\)\{0,1\}$#\1#p')
tab "klift train --learner r" ridge
tab "klift train --kernel gaussian:gam"
tab "klift train --prepare unit" unit unit-keep-norm
tab "klift train --search " auto folds gcv holdout
tab "klift train --format=s" svmlight synthetic
tab "klift train --missing " error mean skip zero
tab "klift train --header " true false
tab "klift train -t " 0 1 2 3
tab "klift train --features "
tab "klift train --task c" classify
tab "klift train al" alpha.svm alpine.npy
tab "klift train data.svm al" alpha.svm alpine.npy
tab "klift train --labels alpi" alpine.npy
tab "klift train --labels=alpi" alpine.npy
tab "klift train -o al" alpha.svm alpine.npy
tab "klift predict --scores be" "beta b.svm"
tab "klift predict --sc" --scores
tab "klift predict --kern"
tab "klift list " kernels maps learners formats options data
tab "klift list maps "
tab "klift list --json ma" maps
tab "klift list --j" --json
tab "klift generate s" sparse spirals
tab "klift generate spirals al" alpha.svm alpine.npy
tab "klift doctor "
tab "klift help l" lambda learners libsvm list
tab "klift help list m"
tab "klift nothing "
for name in $commands; do
    "$KLIFT" "$name" --help | sed '/^Examples:/q' | grep -oE '^  ( {4}|-[a-zA-Z], )?-[^ ,]+' | sed 's/, /\n/; s/^ *//; s/\n */\n/' | sed 's/^ *//' >known
    # shellcheck disable=SC2046
    tab "klift $name -" $(cat known)
done

if command -v zsh >/dev/null; then
    holds "zsh can read its script" zsh -n ../_klift
    # A real zsh in a terminal of its own: klift is a function that writes down what it was called with.
    cat >zsh.sh <<'END'
zmodload zsh/zpty || exit 77
zpty shell zsh -f -i || exit 77
zpty -w shell "PS1=; fpath=(.. \$fpath); autoload -Uz compinit; compinit -u -D; klift() { print -r -- \"\$*\" >>pressed }; setopt no_beep"
zpty -w shell 'print ready >>pressed'
for (( i = 0; i < 300; i++ )) { [[ -s pressed ]] && break; sleep 0.1 }
for line in "$@"; do
    zpty -n -w shell "$line"$'\t\n'
    zpty -w shell 'print done >>pressed'
done
for (( i = 0; i < 600; i++ )) { (( $(grep -cx done pressed) >= $# )) && break; sleep 0.1 }
zpty -d shell
END
    rm -f pressed
    timeout 120 zsh -f zsh.sh "klift tran" "klift train --ker" "klift train --kernel ga" "klift predict --sco" "klift train --prepare stand" \
        "klift list ker" "klift generate check" "klift help env" "klift train alph" "klift train --labels=alpi" >log 2>&1
    status=$?
    grep -vx -e done -e ready pressed >got 2>/dev/null
    printf '%s\n' "transform" "train --kernel" "train --kernel gaussian" "predict --scores" "train --prepare standardise" "list kernels" "generate checkerboard" \
        "help environment" "train alpha.svm" "train --labels=alpine.npy" >wanted
    if [ $status -eq 77 ]; then skip "Tab in zsh (no zsh/zpty)"; else holds "Tab in zsh does the same" diff wanted got; fi
else
    skip "Tab in zsh (no zsh)"
fi
cd .. || exit 2
