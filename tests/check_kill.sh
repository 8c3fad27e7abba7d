#!/usr/bin/env bash
# Runs that survive: killed with -9 at random moments and resumed they end in the model of a run that nobody touched, byte for byte; stopped by
# SIGINT or SIGTERM they end with 130 or 143 and leave a checkpoint and a model that are whole or absent, and no other file.
# KLIFT_KILLS: kills of every learner, default 2; KLIFT_SIGNALS: signals, default 4; 100 and 50 take some minutes. KLIFT_SEED: other moments.
set -u
. "$(dirname "$0")/holds.sh"
klift=$(cd "$(dirname "${KLIFT:-build/klift}")" && pwd)/$(basename "${KLIFT:-build/klift}")
learners=("ridge" "sgd" "svm" "logistic" "sgd:passes=3")
kills=${KLIFT_KILLS:-2} signals=${KLIFT_SIGNALS:-4}
RANDOM=${KLIFT_SEED:-1}
dir=$(mktemp -d) || exit 1
trap '[ $BASHPID != $$ ] || rm -rf "$dir"' EXIT # not by a part of it that a signal meets before it has become klift
cd "$dir" || exit 1
now() { date +%s%N; }
pause() { sleep "$(printf '%d.%09d' $(($1 / 1000000000)) $(($1 % 1000000000)))"; } # nanoseconds
become() { # LEARNER MODEL OPTIONS...: the shell itself, so that a signal meets klift
    local learner=$1 model=$2
    shift 2
    trap - INT # a shell has its background jobs ignore it
    exec "$klift" train rows.svm -q -o "$model" --features 100 --kernel gaussian:gamma=1 --learner "$learner" "$@" > /dev/null
}
train() { (become "$@"); }
"$klift" generate spirals rows.svm --rows "${KLIFT_KILL_ROWS:-9000}" -q
kept=(--checkpoint kept --checkpoint-every 500 --resume)

# ---- kill -9 ----
# After every kill a copy of what is left goes on to the end, and is compared; the training itself goes on to the next kill, until it gets through.
for learner in "${learners[@]}"; do
    started=$(now)
    train "$learner" whole.klift
    took=$(($(now) - started))
    killed=0 equal=0 through=0
    for ((attempt = 0; killed < kills && attempt < 30 * kills; attempt++)); do
        become "$learner" model.klift "${kept[@]}" --threads $((1 + RANDOM % 2)) --batch $((1 + RANDOM)) 2> said &
        pid=$!
        pause $((took / 1000 * (RANDOM % 1100)))
        kill -9 $pid 2> killing
        wait $pid 2> waiting
        code=$?
        if [ $code -eq 0 ]; then
            cmp whole.klift model.klift && through=$((through + 1)) || holds "$learner, killed and resumed, ends in the same model" false
            continue
        fi
        [ $code -eq 137 ] || { holds "$learner goes on after a kill: $(tail -n 1 said)" false; break; }
        killed=$((killed + 1))
        rm -f again model.klift
        [ ! -e kept ] || cp kept again
        train "$learner" again.klift --checkpoint again --resume 2> said && cmp whole.klift again.klift && equal=$((equal + 1)) || holds "$learner goes on: $(tail -n 1 said)" false
    done
    holds "$learner: $killed kills, $equal equal models; $through trainings got through several" [ $killed -ge "$kills" -a $equal -eq $killed ]
    train "$learner" model.klift "${kept[@]}" 2> said
    holds "$learner: the checkpoint, its lock and what the killed left are gone with the model" [ -z "$(ls | grep -e '^kept' -e '^again$')" ]
done

# ---- SIGINT and SIGTERM ----
rm -f ./*.tmp* # of a model that was being written when its process was killed
right=0 stopped=0
for ((i = 0; i < signals; i++)); do
    learner=${learners[$((i % ${#learners[@]}))]}
    started=$(now)
    train "$learner" whole.klift
    took=$(($(now) - started))
    rm -f model.klift kept
    [ $((RANDOM % 2)) -eq 0 ] && name=INT code=130 || name=TERM code=143
    become "$learner" model.klift --checkpoint kept --checkpoint-every 1h 2> said &
    pid=$!
    pause $((took / 1000 * (RANDOM % 1000)))
    kill -$name $pid 2> killing
    wait $pid 2> waiting
    got=$?
    left=$(ls | grep -v -x -e rows.svm -e whole.klift -e again.klift -e said -e killing -e waiting -e kept -e model.klift)
    ok=1
    [ $got -eq $code ] || [ $got -eq 0 ] || ok=0
    [ -z "$left" ] || ok=0
    [ $got -ne 0 ] || cmp -s whole.klift model.klift || ok=0
    [ $got -eq 0 ] || [ ! -e model.klift ] || ok=0
    [ ! -e kept ] || { train "$learner" model.klift --checkpoint kept --resume 2>> said && cmp -s whole.klift model.klift; } || ok=0
    right=$((right + ok))
    [ $got -eq 0 ] || stopped=$((stopped + 1))
    [ $ok -eq 1 ] || holds "SIG$name during $learner: code $got, left '$left', said '$(cat said)'" false
done
holds "$signals signals, $stopped before the end: the right code, nothing torn, nothing left" [ $right -eq "$signals" ]

# ---- full disks ----
train ridge whole.klift
rm -f model.klift kept
(ulimit -f 1; train ridge model.klift "${kept[@]}" 2> said)
holds "a checkpoint above the file size limit is a failure of writing (code $?)" grep -q 'kept: cannot' said
holds "and leaves nothing" [ -z "$(ls | grep -e '^kept' -e '^model')" ]
exit $bad
