# klift doctor: names what runs and measures it
expect 0 "doctor measures" "$KLIFT" doctor
says "it names the inner loops in use" out '^simd'
says "and their speed" out 'float32 gflops'
KLIFT_SIMD=portable "$KLIFT" doctor --json >out 2>err
says "KLIFT_SIMD chooses them" out '"simd": "portable"'
export KLIFT_SIMD=sse9
expect 2 "loops that do not exist are refused by doctor" "$KLIFT" doctor
says "and it names those that may be asked for" err "KLIFT_SIMD is 'sse9'; on this CPU it may be .*portable"
expect 2 "and by training" "$KLIFT" train train.svm -o refused.klift
expect 2 "and by a model" "$KLIFT" predict m.klift test.svm
unset KLIFT_SIMD
if grep -qw avx512vl /proc/cpuinfo; then
    KLIFT_SIMD=avx512 "$KLIFT" doctor --json >out 2>err
    says "a CPU with AVX-512 runs its loops" out '"simd": "avx512"'
elif [ "$(uname -m)" = x86_64 ]; then
    expect 2 "a CPU without AVX-512 refuses its loops" env KLIFT_SIMD=avx512 "$KLIFT" doctor
fi
