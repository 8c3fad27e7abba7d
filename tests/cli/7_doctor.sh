# klift doctor: names what runs and measures it
expect 0 "doctor measures" "$KLIFT" doctor
says "it names the inner loops in use" out '^simd'
says "and their speed" out 'float32 gflops'
KLIFT_SIMD=portable "$KLIFT" doctor --json >out 2>err
says "KLIFT_SIMD chooses them" out '"simd": "portable"'
