# 6_sparse.sh - maps with sparse features: transform, hashed training, what is refused and how it is said.
expect 0 "generate writes sparse rows" "$KLIFT" generate sparse thin.svm --rows 400 --dim 200 --seed 3
expect 0 "transform writes sparse features as text" "$KLIFT" transform thin.svm zt.svm --prepare unit --kernel gaussian:gamma=0.5 --map taylor:degree=2,hash=never --save taylor.klift
says "transform says the features of taylor" err '400 rows of 20301 features'
holds "a row of n nonzeros has C(n+2, 2) features" awk 'NR == FNR { n[FNR] = NF - 1; next } NF - 1 != (n[FNR] + 2) * (n[FNR] + 1) / 2 { bad = 1 } END { exit bad }' thin.svm zt.svm
holds "its columns ascend" awk '{ last = 0; for (i = 2; i <= NF; i++) { split($i, e, ":"); if (e[1] + 0 <= last) exit 1; last = e[1] + 0 } }' zt.svm
"$KLIFT" transform --model taylor.klift thin.svm - --threads 3 >zt2.svm 2>err
holds "the saved map writes the same to stdout, with other threads" cmp zt.svm zt2.svm
expect 0 "sparse features are read again" "$KLIFT" inspect zt.svm
says "and have their width" out 'columns +20301'
expect 0 "ridge takes hashed products" "$KLIFT" train thin.svm --prepare unit --kernel gaussian:gamma=0.5 --map taylor:degree=3 --features 512 -o hashed.klift
says "it says how many are hashed" err 'taylor: 1.374e\+06 products of degree up to 3 are hashed into 512 columns'
expect 0 "the degree that was chosen is shown" "$KLIFT" inspect hashed.klift
says "the degree that was chosen is shown, in the map" out 'map +taylor:degree=3,hash=auto'
"$KLIFT" train thin.svm --prepare unit --kernel gaussian:gamma=0.5 --map taylor:degree=3 --features 512 -o hashed2.klift --threads 3 --batch 77 -q >/dev/null
holds "models have the same bytes for any threads and batch" cmp hashed.klift hashed2.klift
expect 6 "unhashed ridge of too many columns is refused" "$KLIFT" train thin.svm --prepare unit --kernel gaussian:gamma=0.5 --map taylor:degree=3,hash=never -o none.klift
says "it says the number of columns and what to do" err 'taylor makes 1373701 columns, and learner ridge needs .* MB .*leave hash=never out.*--features 4096'
expect 3 "a row with too many nonzeros is refused" "$KLIFT" train thin.svm --kernel gaussian:gamma=0.5 --map taylor:degree=3,limit=1000 -o none.klift
says "it says the row, its nonzeros and what to do" err 'row [0-9]+ of the data has [0-9]+ nonzeros, and so [0-9]+ products of degree up to 3, more than .*limit=1000; use a lower degree'
expect 2 "taylor refuses another kernel" "$KLIFT" train thin.svm --kernel laplacian --map taylor -o none.klift
says "taylor names the maps that fit" err 'maps that fit it: fourier, nystrom'
expect 2 "columns that cannot be numbered are refused" "$KLIFT" transform thin.svm zn.svm --kernel gaussian:gamma=0.5 --map taylor:degree=6,hash=never
says "it says how many they would be" err 'makes 9.862e\+10 columns of 200'
expect 2 "a degree without terms is refused" "$KLIFT" train thin.svm --kernel poly:degree=3,offset=0 --map monomial:degree=2 -o none.klift
expect 0 "a kernel too narrow for taylor is warned of" "$KLIFT" train thin.svm --kernel gaussian:gamma=1000 --map taylor:degree=2 --features 64 --lambda 1 -o narrow.klift
says "it says that rows become zero" err 'warning: taylor: rows as long as .* become zero'
holds "a refused training leaves no model" [ ! -e none.klift ]
