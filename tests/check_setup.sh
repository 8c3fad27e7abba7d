#!/usr/bin/env bash
# What a stranger meets before klift runs: scripts/setup is silent when nothing is missing and tells the line to run to a user who
# may not install; make, make check and make install neither install nor download; a missing header is told with its package.
set -u
cd "$(dirname "$0")/.." || exit 1
if ! command -v dpkg-query >/dev/null; then
    echo "skipped: scripts/setup: this is not Debian"
    exit 77
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
bad=0
complain() { echo "$1"; bad=1; }
chmod 755 "$dir" && cp scripts/setup "$dir/setup" && chmod 755 "$dir/setup" # where a user without rights can read it

# stranger ARGUMENT...: setup by a user who may not install
stranger() {
    if [ "$(id -u)" -eq 0 ]; then
        (cd / && setpriv --reuid=65534 --regid=65534 --clear-groups "$dir/setup" "$@")
    else
        "$dir/setup" "$@"
    fi
}
nothing=klift-needs-no-such-package
if [ "$(id -u)" -ne 0 ] && sudo -n true 2>/dev/null; then
    echo "skipped: scripts/setup by a user who may not install: this one may"
else
    stranger build $nothing >"$dir/out" 2>"$dir/said" && complain "setup ends well with a package missing"
    [ -s "$dir/out" ] && complain "setup without rights writes to standard output"
    grep -qE "^  (sudo )?apt-get install -y --no-install-recommends .*$nothing\$" "$dir/said" || complain "setup without rights does not tell the line: $(cat "$dir/said")"
    [ "$(grep -c apt-get.install "$dir/said")" -eq 1 ] || complain "setup tells more than one line to run"
fi
if stranger build >"$dir/said" 2>&1; then
    [ -s "$dir/said" ] && complain "setup has something to say when nothing is missing: $(cat "$dir/said")"
fi
scripts/setup nonsense >"$dir/said" 2>&1
[ $? -eq 2 ] && grep -q '^usage: ' "$dir/said" || complain "an unknown goal is not answered by the usage"

make -n all check install BUILD="$dir/build" DESTDIR="$dir/stage" >"$dir/plan" 2>&1 || complain "make -n fails"
grep -qE '^[[:space:]]*(sudo |scripts/setup|apt-get|apt |curl|wget|pip)' "$dir/plan" && complain "make, make check or make install installs or downloads"
grep -q ' -c src/api.c ' "$dir/plan" || complain "make -n shows no build"

# No header at all: the first one is told, with its package, and no compiler is started.
if make BUILD="$dir/build" CC="${CC:-cc} -nostdinc" "$dir/build/src/base/error.o" >"$dir/said" 2>&1; then
    complain "a build without headers ends well"
fi
grep -q 'stdio.h; Debian has it in libc6-dev: run scripts/setup build' "$dir/said" || complain "a missing header is not told with its package: $(cat "$dir/said")"
grep -q ' error: ' "$dir/said" && complain "the compiler speaks before the missing package is told"
[ $bad -eq 0 ] && echo "setup: right"
exit $bad
