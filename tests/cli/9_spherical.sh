# 9_spherical.sh - the map spherical and the kernel sigmoid from the command: what is trained, said and refused.
if "$KLIFT" list maps | grep -q '^  spherical '; then
    "$KLIFT" generate friedman sphere.svm --rows 200 --dim 10 -q
    expect 0 "spherical trains on rows of length 1" "$KLIFT" train sphere.svm --task regress --prepare unit --kernel poly:degree=7 --map spherical --features 101 --verbose -o sphere.klift
    says "the bias of the fit is told" err 'waves differ from the kernel by [0-9.e-]+ of K\(x, x\)'
    says "spherical's pairs are told" err 'features come in pairs: 102 instead of 101'
    says "the map is printed with all its parameters" out '^map +spherical:weight=uniform,fit=shells,terms=10,directions=auto,form=auto,linear=auto'
    expect 0 "inspect of a spherical model succeeds" "$KLIFT" inspect --json sphere.klift
    is_json "inspect tells the bias of the fit" out '0 < j["bias"] < j["largest_bias"] < 0.01 and j["radii"] > 0'
    expect 0 "predict with spherical succeeds" "$KLIFT" predict sphere.klift sphere.svm sphere.txt
    expect 0 "spherical as published trains" "$KLIFT" train sphere.svm --task regress --prepare unit --kernel poly:degree=10 --map spherical:fit=gaussians,terms=10 --features 101 -o sphere2.klift
    says "the published form has no pairs" out '^features +101$'
    expect 0 "spherical trains with weights by data, the width by auto and sparse rows" "$KLIFT" train sphere.svm --task regress --prepare unit --kernel gaussian --map spherical:weight=data --features 64 -o sphere2.klift
    expect 3 "rows that are not of length 1 are refused" "$KLIFT" train sphere.svm --task regress --kernel poly --map spherical -o none.klift
    says "rows that are not of length 1 are answered with the option" err 'use --prepare unit'
    (cat sphere.svm; echo 1) >zero.svm
    expect 3 "a row of zeros has no place on the sphere" "$KLIFT" train zero.svm --task regress --prepare unit --kernel poly --map spherical -o none.klift
    expect 3 "a row of zeros is refused at prediction too" "$KLIFT" predict sphere.klift zero.svm none.txt
    says "what is wrong with a row of zeros is said with its file" err 'zero.svm: .*nothing but zeros'
    expect 2 "poly with a low offset is refused for spherical" "$KLIFT" train sphere.svm --task regress --prepare unit --kernel poly:offset=0.5 --map spherical -o none.klift
    says "maps for poly with a low offset are named" err 'raise the offset to gamma, or use one of .*maclaurin'
    expect 0 "spherical serves sigmoid" "$KLIFT" train sphere.svm --task regress --prepare unit --kernel sigmoid --map spherical --features 64 -o sphere2.klift
    holds "a refused training leaves no model" [ ! -e none.klift ]
else
    skip "spherical: this klift was built without it (KLIFT_SPHERICAL=0)"
fi
expect 2 "sigmoid is refused by maps for positive definite kernels" "$KLIFT" train train.svm --kernel sigmoid --map fourier
says "why sigmoid is refused, and what serves it, is said" err 'not positive definite; maps that fit it: nystrom'
