# Sourced by the scripts that check one sentence after another; bad=1 when one does not hold.
bad=0
holds() { # SENTENCE COMMAND...
    local sentence=$1
    shift
    if "$@"; then echo "ok - $sentence"; else
        echo "not ok - $sentence: $*"
        bad=1
    fi
}
