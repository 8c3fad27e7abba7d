#!/usr/bin/env bash
# klift as its users get it: installed into a folder of its own, found by pkg-config and CMake, the examples built against it as C99
# and as C++; manual pages and completion; what libklift.so shows; the same bytes from two folders; nothing left by make uninstall.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A plain build of its own: the variables of an outer make (sanitizers, coverage) are not meant for it. CC, WITHOUT and KLIFT_BLAS stay.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL BUILD SANITIZE EXTRA DESTDIR PREFIX LIBDIR CFLAGS LDFLAGS
unset PKG_CONFIG_PATH PKG_CONFIG_LIBDIR CMAKE_PREFIX_PATH
optimise=-O1 # for time; paths get into debug information at every level alike
bad=0
holds() { # SENTENCE COMMAND...
    local sentence=$1
    shift
    if "$@" >"$work/log" 2>&1; then echo "ok - $sentence"; else
        echo "not ok - $sentence: $*"
        tail -n 20 "$work/log"
        bad=1
    fi
}
there() { command -v "$1" >/dev/null || { echo "skipped: $2: there is no $1"; return 1; }; }
copy_tree() { mkdir -p "$1" && cp -r "$here/Makefile" "$here/include" "$here/src" "$here/cli" "$here/packaging" "$1"; }
build() { (cd "$1" && make -s -j2 OPTIMISE=$optimise all); }

# ---- install ----
copy_tree "$work/one"
holds "it builds" build "$work/one"
[ $bad -eq 0 ] || exit 1
version=$(sed -n 's/^VERSION *:= *//p' "$here/Makefile")
put() { make -s -C "$work/one" OPTIMISE=$optimise DESTDIR="$work/stage" "$@"; }
holds "it installs" put PREFIX=/opt/k install
# moved after the install: nothing in it may know where it was
mv "$work/stage/opt/k" "$work/moved"
root=$work/moved lib=$work/moved/lib
holds "the command prints the version of the Makefile" [ "$("$root/bin/klift" version)" = "klift $version" ]
holds "libklift.so leads to the versioned file" [ "$(readlink -f "$lib/libklift.so")" = "$(readlink -f "$lib/libklift.so.$version")" ]
holds "libklift.so.0 is a link" [ -L "$lib/libklift.so.0" ]
holds "the soname is libklift.so.0" bash -c "readelf -d '$lib/libklift.so' | grep -q 'SONAME.*\[libklift.so.0\]'"
# permissive licences only: C, mathematics and decompression (with KLIFT_BLAS that BLAS as well); LIBLINEAR and LIBSVM are opened, not linked
needed=$(readelf -d "$lib/libklift.so" "$root/bin/klift" | sed -n 's/.*NEEDED.*\[\(.*\)\].*/\1/p' | sort -u | grep -vE '^(lib(c|m|dl|pthread|z|lzma|zstd|bz2)|ld-linux[-_a-z0-9]*|ld64)\.so' | tr '\n' ' ')
[ -n "${KLIFT_BLAS:-}" ] || holds "nothing else is linked" [ -z "$needed" ]

# ---- manual pages and completion ----
for name in klift $(cd "$here/cli" && ls cmd_*.c | sed 's/cmd_\(.*\)\.c/klift-\1/'); do
    holds "$name(1) is there, with the version" grep -q "^\.TH .* 1 .*\"klift $version\"" "$root/share/man/man1/$name.1"
done
holds "klift(3) is there, with the version" grep -q "^\.TH KLIFT 3 .*\"klift $version\"" "$root/share/man/man3/klift.3"
holds "bash finds its completion" bash -c ". '$root/share/bash-completion/completions/klift' && complete -p klift"
holds "zsh finds its completion" grep -qx '#compdef klift' "$root/share/zsh/site-functions/_klift"
if there man "the pages by name"; then
    holds "man finds klift" bash -c "MANPATH='$root/share/man' man -w klift klift-train"
    holds "man finds klift(3)" bash -c "MANPATH='$root/share/man' man -w 3 klift"
fi
other() { make -s -C "$work/one" OPTIMISE=$optimise NATIVE=/nonexistent/klift DESTDIR="$work/other" PREFIX=/opt/k "$@"; }
rm "$work/one/build/share.made"
holds "a klift that does not run here installs" other install
holds "without pages and completion" [ -x "$work/other/opt/k/bin/klift" -a ! -e "$work/other/opt/k/share" ]
rm "$work/one/build/share.made"
holds "NATIVE names a klift that does" other NATIVE="$root/bin/klift" install
holds "and they are the same" diff -r "$root/share" "$work/other/opt/k/share"

# ---- what libklift.so shows ----
nm -D --defined-only "$lib/libklift.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort >"$work/shown"
tr '\n' ' ' <"$root/include/klift.h" | grep -oE 'KLIFT_API [^;]*;' | grep -oE 'klift_[a-z_]+\(' | tr -d '(' | sort -u >"$work/declared"
holds "klift.h declares functions" [ "$(wc -l <"$work/declared")" -gt 40 ]
holds "libklift.so shows what klift.h declares, and nothing else" diff "$work/declared" "$work/shown"

# ---- what it calls: it never prints, exits, aborts, catches signals, or calls what two threads may not (lgamma sets signgam) ----
nm -D --undefined-only "$lib/libklift.so" | awk '{ sub(/@.*/, "", $2); print $2 }' >"$work/called"
holds "libklift.so calls the C library" grep -qx snprintf "$work/called"
never='v?printf|__printf_chk|puts|putchar|perror|_?exit|_Exit|abort|__assert_fail|raise|kill|signal|sigaction|lgamma|s?rand|random|strtok|setlocale|localtime|gmtime|system'
holds "and nothing that a library must leave alone" [ -z "$(grep -xE "$never" "$work/called")" ]

# ---- examples ----
"$root/bin/klift" generate rings "$work/rings.svm" --rows 500 -q
"$root/bin/klift" train "$work/rings.svm" --features 64 -o "$work/rings.klift" -q >/dev/null
"$root/bin/klift" predict "$work/rings.klift" "$work/rings.svm" "$work/expected" -q
predicts() { "$1/predict_only" "$work/rings.klift" "$work/rings.svm" >"$work/got" && cmp "$work/got" "$work/expected"; }
run_examples() { # HOW FOLDER
    local program
    for program in train_and_predict custom_source shards; do holds "$1: $program runs" "$2/$program"; done
    holds "$1: predict_only answers as the command does" predicts "$2"
}
by_make() { # HOW FOLDER VARIABLE...
    local how=$1 folder=$work/$2
    shift 2
    cp -r "$here/examples" "$folder"
    holds "$how: the examples build without a warning" make -s -C "$folder" "$@"
    LD_LIBRARY_PATH=$lib run_examples "$how" "$folder"
}
by_cmake() { # HOW FOLDER OPTION...
    local how=$1 folder=$work/$2
    shift 2
    holds "$how: the examples are configured" cmake -S "$here/examples" -B "$folder" -DCMAKE_PREFIX_PATH="$root" "$@"
    holds "$how: the examples build" cmake --build "$folder"
    run_examples "$how" "$folder" # CMake wrote the place of the library into the programs
}
strict="-Wall -Wextra -pedantic -Werror"
if there pkg-config "the examples by pkg-config"; then
    export PKG_CONFIG_PATH=$lib/pkgconfig
    holds "klift.pc has the version" [ "$(pkg-config --modversion klift)" = "$version" ]
    by_make "C99" c99 CFLAGS="-std=c99 $strict"
    if there g++ "the examples as C++"; then by_make "C++" c++ CC="g++ -x c++" CFLAGS="$strict"; fi
    cp -r "$here/examples" "$work/static"
    # shellcheck disable=SC2046
    holds "the static library links with Libs.private" ${CC:-cc} $(pkg-config --cflags klift) -o "$work/static/shards" "$work/static/shards.c" \
        $(pkg-config --static --libs klift | sed 's/-lklift/-l:libklift.a/')
    holds "what is linked so needs no libklift.so" "$work/static/shards"
fi
if there cmake "the examples by CMake"; then
    by_cmake "CMake" cmake
    by_cmake "CMake, static" cmake-static -DKLIFT_STATIC=ON
    holds "the static programs need no libklift.so" bash -c "! readelf -d '$work/cmake-static/shards' | grep -q libklift"
    cp -r "$here/examples" "$work/other"
    sed 's/find_package(klift 0.1/find_package(klift 0.2/' "$here/examples/CMakeLists.txt" >"$work/other/CMakeLists.txt"
    holds "CMake refuses a klift of another series" bash -c "! cmake -S '$work/other' -B '$work/newer' -DCMAKE_PREFIX_PATH='$root'"
fi

# ---- other places, and away again ----
holds "it installs below lib/TRIPLET" put PREFIX=/usr LIBDIR=/usr/lib/some-triplet install
deep=$work/stage/usr/lib/some-triplet
if command -v pkg-config >/dev/null; then
    folder=$(PKG_CONFIG_PATH=$deep/pkgconfig pkg-config --variable=includedir klift)
    holds "klift.pc finds the header from there" [ "$folder" -ef "$work/stage/usr/include" ]
    put PREFIX=/opt/p LIBDIR=/elsewhere/lib install
    folder=$(PKG_CONFIG_PATH=$work/stage/elsewhere/lib/pkgconfig pkg-config --variable=includedir klift)
    holds "apart from PREFIX, klift.pc holds the paths as given" [ "$folder" = /opt/p/include ]
    put PREFIX=/opt/p LIBDIR=/elsewhere/lib uninstall
fi
holds "it uninstalls" put PREFIX=/usr LIBDIR=/usr/lib/some-triplet uninstall
holds "nothing is left" [ -z "$(find "$work/stage" ! -type d)" ]

# ---- the same bytes from another folder, entered by a link ----
if [ -n "${KLIFT_TEST_QUICK:-}" ]; then
    echo "skipped: the bytes of two builds (KLIFT_TEST_QUICK)"
else
    copy_tree "$work/a much/longer name"
    ln -s "$work/a much/longer name" "$work/two"
    holds "it builds in another folder" build "$work/two"
    holds "manual pages and completion have the same bytes" diff -r "$work/one/build/share" "$work/two/build/share"
    for file in libklift.so libklift.a klift; do holds "$file has the same bytes" cmp "$work/one/build/$file" "$work/two/build/$file"; done
fi
exit $bad
