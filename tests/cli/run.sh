#!/bin/bash
# run.sh - end-to-end tests of the command: every command, every exit code. Prints one line per test, the count last.
# KLIFT=path/to/klift tests another build, CLI_PARTS="2_train 3_predict" some of the parts (later ones use files of 2 and 3).
KLIFT=${KLIFT:-build/klift}
KLIFT=$(cd "$(dirname "$KLIFT")" && pwd)/$(basename "$KLIFT")
[ -x "$KLIFT" ] || { echo "run.sh: $KLIFT is not built" >&2; exit 2; }
home=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d "${TMPDIR:-/tmp}/klift-cli.XXXXXX") || exit 2
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2
export LC_ALL=C COLUMNS=100
unset NO_COLOR
passed=0 failed=0 skipped=0

ok() { passed=$((passed + 1)); echo "ok - $1"; }
not_ok() { failed=$((failed + 1)); echo "not ok - $1"; shift; printf '#   %s\n' "$@"; }
skip() { skipped=$((skipped + 1)); echo "skipped: $1"; }

# expect CODE SENTENCE COMMAND...: leaves the output in files out and err. A failure must say why, once, after 'klift: '.
expect() {
    local code=$1 sentence=$2 status
    shift 2
    "$@" >out 2>err </dev/null
    status=$?
    if [ $status -ne "$code" ]; then
        not_ok "$sentence" "exit code $status instead of $code: $*" "$(tail -n 3 err)"
    elif [ "$code" -gt 0 ] && [ "$code" -lt 128 ] && ! tail -n 1 err | grep -q '^klift: '; then
        not_ok "$sentence" "no message: $*" "$(tail -n 3 err)"
    else
        ok "$sentence"
    fi
}
# says SENTENCE FILE PATTERN
says() {
    if grep -Eq -- "$3" "$2"; then ok "$1"; else not_ok "$1" "no '$3' in:" "$(head -n 5 "$2")"; fi
}
# holds SENTENCE COMMAND...
holds() {
    local sentence=$1
    shift
    if "$@" >/dev/null 2>&1; then ok "$sentence"; else not_ok "$sentence" "false: $*"; fi
}
is_json() { # SENTENCE FILE [EXPRESSION over j]
    if [ -z "$python" ]; then
        skip "$1 (no python3)"
    elif "$python" -c 'import json,sys; j=json.load(open(sys.argv[1])); sys.exit(0 if eval(sys.argv[2]) else 1)' "$2" "${3:-True}" 2>why; then
        ok "$1"
    else
        not_ok "$1" "${3:-not JSON}" "$(head -c 300 "$2")" "$(tail -n 1 why)"
    fi
}
no_file() { [ -z "$(ls -A "$1" 2>/dev/null)" ]; }
python=$(command -v python3)
"$python" -c 'import json' 2>/dev/null || python=

for part in ${CLI_PARTS:-$(cd "$home/tests/cli" && ls -- [0-9]*.sh)}; do
    # shellcheck source=/dev/null
    . "$home/tests/cli/${part%.sh}.sh"
done
[ $skipped -gt 0 ] && echo "$skipped skipped"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
