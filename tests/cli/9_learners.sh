# 9_learners.sh - logistic by the command: probabilities, and what is refused.
expect 0 "logistic trains" "$KLIFT" train train.svm --features 64 --learner logistic -c 10 -o logistic.klift
says "  and tells its passes" err 'gradient .* passes'
says "  and that its scores are logarithms of odds" out '^probability +of the scores'
expect 0 "its model has probabilities without being asked for them" "$KLIFT" predict --probability logistic.klift test.svm
expect 0 "and a log loss" "$KLIFT" test logistic.klift test.svm
says "  which is printed" out '^log loss'
expect 2 "logistic is for classes" "$KLIFT" train train.svm --features 64 --learner logistic --task regress -o no.klift
expect 2 "logistic holds no rows out" "$KLIFT" train train.svm --features 64 --learner logistic -v 5
says "  and names who does" err '[-]-learner ridge or --learner svm'
