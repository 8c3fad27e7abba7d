/*
 * topics.c - the texts of klift help TOPIC. What a registry or the table of options knows is not repeated here: it is
 * printed between `before` and `after` from there.
 */
#include "topics.h"

#include <stddef.h>
#include <string.h>

#define BLOCKS (const char *const[])

const cli_topic topics[] = {
    {.name = "kernels",
     .title = "Kernels",
     .summary = "kernels, their parameters and how a width is found",
     .before = BLOCKS{"--kernel NAME or NAME:PARAMETER=VALUE,... (klift help specs). Begin with gaussian; matern follows kinks and steps better; "
                      "laplacian and cauchy look at columns one by one; intersection, chi2 and jensen-shannon compare histograms and counts, which "
                      "have no negative values; linear is what all of them must beat. compose(OUTER, INNER) is a kernel of a kernel: exp, poly, "
                      "vovk, vovk-infinite or series of the values of another one.",
                      "A width (gamma, length) is a number, auto (from the median distance of a sample of the prepared rows) or search (seven "
                      "values a factor 2 apart around auto, by cross-validation). When the first or last of the seven wins, give numbers from "
                      "there on. A width means something else after another --prepare.",
                      "Kernels of this klift, with the defaults of their parameters:", NULL},
     .list = "kernels",
     .examples = "  klift train train.svm --kernel gaussian:gamma=0.5\n"
                 "  klift train train.svm --kernel matern:nu=2.5,length=search\n"
                 "  klift train train.svm --kernel 'compose(exp, laplacian)'\n"
                 "  klift list kernels\n"},
    {.name = "maps",
     .title = "Maps",
     .summary = "feature maps, and which one auto takes",
     .before = BLOCKS{"A map replaces a kernel K by features z with z(x).z(y) ~ K(x, y). --features N says how many columns z has; the error falls like "
                      "1 / sqrt(N), the memory of training grows with the square of N.",
                      "--map auto, the default, takes identity for the linear kernel, homogeneous for histograms' kernels, fourier for kernels without rotation invariance, and orthogonal "
                      "for the others, except for wide and very sparse rows, which get fourier. It counts operations and never measures time, so "
                      "the same data get the same map on every machine. A map that does not fit the kernel is refused, and spherical refuses rows "
                      "that --prepare unit has not made of length 1.",
                      "Maps of this klift, with the defaults of their parameters:", NULL},
     .list = "maps",
     .examples = "  klift train train.svm --map fourier --features 4096\n"
                 "  klift train train.svm --map orthogonal:directions=dense --features 512\n"
                 "  klift train train.svm --kernel poly:degree=2 --map monomial\n"
                 "  klift list maps\n"},
    {.name = "learners",
     .title = "Learners",
     .summary = "what is trained on the features",
     .before = BLOCKS{"--learner NAME. Classification or regression is decided by the labels (--task auto), or said: --task classify, --task regress.", NULL},
     .list = "learners",
     .after = BLOCKS{"ridge reads the rows once and has the error of every lambda from that. svm wants their features several times: it keeps them where "
                     "they fit half of --max-memory, otherwise makes them in every pass from rows that it keeps, and has them in a temporary file when the rows "
                     "do not fit a quarter or come from a pipe: the same model in all cases. It takes C = 1 unless --lambda or -c say otherwise; with "
                     "-v K, --search folds or --search holdout it trains once more for every fold and tells the error of the rows held out. --path C,C,... or --path auto chooses C "
                     "by them: the machine of every fold goes on from one C to the next, until two in a row are worse than the best, or with auto one took more than 50 passes. They are only tried: ten times the tolerance will do.",
                     "logistic goes through the same features in the same way, in the order of the rows, and also takes C = 1 unless --lambda or -c say otherwise; "
                     "it holds no rows out. Its scores are logarithms of odds: of the second of two classes against the first, of each class up to a constant "
                     "(multinomial), or of each class against the rest. So it has probabilities without --probability, unless it tells several classes each from the rest.",
                     "sgd learns from every row as it comes and forgets it: as many rows as you like, from a pipe too, in memory that does not grow with "
                     "them. The loss in its progress lines is that of rows before they were learnt from. With passes=2 or more it takes all rows again, in "
                     "an order of the seed's, from where svm has them. C = 1 unless --lambda or -c say otherwise; the rows of a pipe cannot be counted beforehand, "
                     "so there -c is refused and lambda is 1e-6 unless it is given. If it stops because scores run away, scale the data "
                     "(--prepare standardise) or leave step out.",
                     "With several passes sgd can hold rows out: --holdout SHARE keeps them from being learnt from, by a hash of their content and the seed, and the "
                     "weights of the pass with the least error on them are given; --early-stop ROUNDS ends it when so many passes in a row were no better "
                     "(and holds out a tenth, where no share is said).",
                     "--warm-start MODEL goes on from a model of any learner but one with a code: sgd from its weights and its count of rows, so that steps go on where they were. "
                     "Preparation, map, seed, task and lambda are the model's (--lambda and -c change the last one); a setting that contradicts it is refused. Classes are "
                     "those of the model and of the rows: a new one begins at a score of -1 for every row. logistic only begins there, with the same classes, and ends "
                     "where it always does. There is no --checkpoint of a training that goes on.",
                     "Models on the way, for ridge and for sgd: --snapshot-every ROWS writes the model that the first rows make to MODEL, whole, at the end of a block "
                     "(4096 rows, or 1024 for more than 8192 features) or of a pass; so a training on input that does not end leaves a model, and so does one that "
                     "runs away. --curve prints the error at doubling counts of rows: of --test, otherwise of rows held out. ridge solves once more for each, from the sums that it "
                     "has; neither changes the model.",
                     "doubly-stochastic takes copies of the map, drawn one after the other, and gives each its weights at its turn: as many features as you like, of "
                     "which only those of one copy and some rows are there at a time, beside the rows and a score of each. It puts copies(...) around the map, of "
                     "1024 features each; --map 'copies(fourier):each=256' says otherwise. Steps go by the curvature of the loss and end where that falls no more; step=NUMBER and "
                     "step=published go by the gradient of some rows, new ones in each step. passes=2 visits the copies again: many passes end at the least objective. "
                     "C = 1 unless --lambda or -c say otherwise. It holds no rows out.",
                     "--code gives ridge's classes an error-correcting output code: every class a row of bits, every bit a task of two groups of "
                     "classes. The bits come from the same statistics, so training reads and solves no more; lambda and its error are those of one "
                     "class against the rest.",
                     "identity\tone bit per class: one class against the rest, written as a code", "random\tthe best of 200 draws; --bits N, by default 50 for every doubling of the classes (200 for ten)",
                     "balanced\tthe same, each bit with half of the classes on either side: nearer to one class against the rest",
                     "hadamard\trows of a Hadamard matrix: all classes equally far apart, in fewer than twice as many bits as classes",
                     "exhaustive\tevery split of at most 10 classes",
                     "--decode soft, the default, takes the class whose row is nearest to the values of the bits: with identity, hadamard and exhaustive "
                     "the very predictions of one class against the rest. --decode hamming counts signs only, as published. predict --scores prints how far the "
                     "bits agree with each class: 1 where all do, -1 where none does.",
                     "--class-weight LABEL=W,LABEL=W multiplies the weights of the rows of a class; balanced takes n / (k n_c) for a class of n_c of the n rows, "
                     "k classes in all. Other classes keep 1; rows of a class of weight 0 do not count. ridge must know how many rows a class has before "
                     "it begins: balanced then needs a file, or a pipe of at most 16384 rows. Cross-validated errors count rows without these factors.",
                     "--probability, or -b 1, fits probabilities for predict --probability. They come from scores of rows by models that did not see them: for "
                     "ridge those of the search for lambda, at most 4096 kept rows, held out even when lambda is given (not with --search gcv); svm trains "
                     "once more for every fold (--folds K) and scores all rows. Two classes: Platt's sigmoid of the score, 1 / (1 + exp(-(a f + b))). More: "
                     "exp(a f) of the classes' scores, divided by their sum. Weights of rows count, --class-weight does not: probabilities are those of the "
                     "rows as they are. Labels are as without it; of two classes the label can be the less probable one where the score is near 0.",
                     "How the regularisation is chosen: klift help lambda.", NULL},
     .examples = "  klift train train.svm --learner ridge --task classify\n"
                 "  klift train train.svm --learner svm:loss=hinge -c 10\n"
                 "  klift train train.svm --learner logistic -c 10\n"
                 "  klift train train.svm --learner sgd:loss=logistic,passes=5 --lambda 1e-6\n"
                 "  klift train train.svm --learner sgd:passes=100 --early-stop 3\n"
                 "  klift train new.svm --learner sgd --warm-start m.klift -o m.klift\n"
                 "  cat new.svm | klift train - --learner sgd --snapshot-every 99 -o s.klift\n"
                 "  klift train train.svm --test test.svm --curve\n"
                 "  klift train train.svm --learner doubly-stochastic --features 65536\n"
                 "  klift train train.svm --code random --bits 200 --decode hamming\n"
                 "  klift train train.svm --class-weight balanced\n"
                 "  klift train train.svm --probability -o m.klift\n"},
    {.name = "specs",
     .title = "Specs",
     .summary = "how kernels and maps are written",
     .before = BLOCKS{"Kernels, maps and learners are written in one grammar:",
                      "  spec  = name [ \"(\" spec { \",\" spec } \")\" ] [ \":\" item { \",\" item } ]\n"
                      "  item  = key \"=\" value | number\n"
                      "  value = number | word | '\"' any '\"'\n",
                      "Blanks are ignored outside quotes; a quote within quotes is written twice. A number without a key is the value of the first "
                      "parameter. Unknown names and keys are errors that name the nearest known one. klift prints specs with all their parameters, "
                      "and what it prints can be given back to it.",
                      "In a shell, put a spec with brackets, quotes or blanks between single quotes.", NULL},
     .examples = "  klift train train.svm --kernel gaussian:gamma=0.5\n"
                 "  klift train train.svm --kernel gaussian:0.5 --map fourier:form=phase\n"
                 "  klift train train.svm --kernel 'matern: nu = 1.5, length = auto'\n"
                 "  klift train train.svm --kernel 'compose(exp:sigma=1, gaussian)'\n"},
    {.name = "data",
     .title = "Data",
     .summary = "formats, labels and their options",
     .before = BLOCKS{"A file is known by its content, not by its name, and may be compressed by gzip, xz, zstd or bzip2; - is standard input. Several files, "
                      "or a pattern in quotes, are one set of rows for klift train. --format names a format where the content leaves a doubt.",
                      "Formats and their parameters. On the command line a parameter is an option (--label price), in klift_data_open an item "
                      "(\"label=price,missing=mean\"); one that the format does not have is an error:",
                      NULL},
     .list = "formats",
     .after = BLOCKS{"Labels of NPY and IDX are in a file of their own: --labels FILE, once per file of data. Predictions never need labels; --no-label says "
                     "that text rows have none.",
                     "The model keeps the columns of a table: at prediction they are found by name, in any order; categories it has not seen count as "
                     "none and are reported.",
                     NULL},
     .examples = "  klift inspect houses.csv --label price --missing skip\n"
                 "  klift train houses.csv --label price --ignore id --missing mean\n"
                 "  klift train x.npy --labels y.npy -o m.klift\n"
                 "  klift train 'part-*.svm.gz' -o m.klift\n"},
    {.name = "prepare",
     .title = "Preparation",
     .summary = "what is done to rows before the map",
     .before = BLOCKS{"Kernels compare columns by their differences, so columns of different units need a preparation. It is learnt from the training rows and "
                      "kept in the model: predict and test take raw rows.",
                      "none\tnothing, the default: columns of one kind, such as pixels or 0/1 columns",
                      "standardise\t(x - mean) / standard deviation: columns of different units", "minmax\t(x - low) / (high - low): columns with fixed ranges",
                      "unit\tx / |x|: rows whose direction counts, such as text and histograms", "unit-keep-norm\tas unit, and one more column for the length",
                      "maxnorm\tx / the largest norm of the training rows: one scale for all columns", "meannorm\tx / the mean norm of the training rows",
                      "Sparse rows (LIBSVM text, tables with text columns) are divided but not centred by standardise and minmax, because that would fill "
                      "their zeros; klift says so.",
                      NULL},
     .examples = "  klift train train.svm --prepare standardise\n"},
    {.name = "lambda",
     .title = "Lambda",
     .summary = "what is minimised, and how lambda is found",
     .before = BLOCKS{"Every learner minimises one objective over the weights w and the intercept b of the features z:",
                      "  (1/n) sum_i loss(y_i, w.z_i + b) + lambda |w|^2 / 2\n",
                      "For ridge the loss is (y - f)^2 / 2, and b is without penalty; for svm it is one of LIBLINEAR's, and b the weight of one more feature "
                      "of value B (bias=1), penalised like the others; for logistic it is ln(1 + exp(-y f)), or of several classes ln sum_k exp(f_k) - f_y, and b is without penalty; sgd takes any of these and others, and b as svm, doubly-stochastic too, and b as ridge. lambda is relative to the n rows, so it means the same for ten times the "
                      "data. -c C is LIBSVM's cost: lambda = 1 / (C n).",
                      "Without --lambda and -c ridge's is searched on a grid of half decades, from the statistics: the data are not read again. --search "
                      "says how:",
                      "folds\tthe error of each fold (--folds K) under the model of the others; for classes, of at most 4096 rows that are kept",
                      "holdout\tthe same with one fold held out", "gcv\tgeneralised cross-validation: squared errors, no rows kept",
                      "auto\tthe default: holdout for more than 2048 features and 16384 rows; otherwise folds while they fit half of --max-memory, else "
                      "holdout, else gcv",
                      "train prints what it took, --verbose the error of every lambda. svm takes C = 1, or the best of "
                      "--path 0.1,1,10 by folds or holdout. A lambda near 1e-12 says that the kernel is too wide: try a larger "
                      "gamma.",
                      NULL},
     .examples = "  klift train train.svm --search folds --folds 10 --verbose\n"
                 "  klift train train.svm --learner svm --path 0.1,1,10 --search holdout\n"
                 "  klift train train.svm --lambda 0.001\n"
                 "  klift train -c 10 train.svm\n"},
    {.name = "libsvm",
     .title = "LIBSVM",
     .summary = "LIBSVM's flags and what they are here",
     .before = BLOCKS{"klift reads LIBSVM's text. It trains ridge on features unless -s or --learner svm is said, so errors are close to LIBSVM's and not equal. "
                      "klift predict takes model and data in either order.",
                      "Flags of svm-train; those that would mean something else are refused with these words:", NULL},
     .list = "libsvm",
     .after = BLOCKS{"svm-predict\tklift predict, with the same order of arguments; the accuracy goes to standard error",
                     "svm-scale\t--prepare minmax or standardise; the ranges are kept in the model", NULL},
     .examples = "  klift train -t 2 -g 0.5 -c 10 train.svm -o m.klift\n"
                 "  klift train -s 0 -g 0.5 -c 10 -w1 5 train.svm -o m.klift\n"
                 "  klift train -g 0.5 -c 10 -v 5 train.svm\n"
                 "  klift predict test.svm m.klift labels.txt\n"},
    {.name = "config",
     .title = "Configuration",
     .summary = "options in a file, by --config FILE",
     .before = BLOCKS{"Every command takes --config FILE, a text file of one option per line:",
                      "  # board.conf: for train and test alike\n"
                      "  kernel = gaussian:gamma=10\n"
                      "  map = fourier\n"
                      "  features = 512\n"
                      "  quiet = true\n",
                      "The key is the option's name without its dashes (or its letter where it has no name); flags take true or false. # begins a comment at "
                      "the start of a line or after a blank. A value with such a sign, or with blanks at its ends, stands in double quotes; a quote within "
                      "is written twice. Blank lines are skipped. File names are as on the command line: relative to the current folder.",
                      "Options on the command line win over those of the file, also where another name says the same: -g and -t replace kernel, -c replaces "
                      "lambda, and the other way round; --model replaces what makes a map. A key of another command is left aside, so that one file "
                      "serves train and test; a key that no command has is an error. train --verbose says what was taken from the file.",
                      "Nothing of the file but the settings themselves gets into a model.", NULL},
     .examples = "  klift train train.svm --config board.conf -o board.klift\n"
                 "  klift test board.klift test.svm --config board.conf\n"
                 "  klift train train.svm --config board.conf --features 1024\n"},
    {.name = "environment",
     .title = "Environment",
     .summary = "variables that klift looks at",
     .before =
         BLOCKS{"KLIFT_SIMD\tportable, avx2 or (in a build with BLAS) blas: the inner loops; default: the fastest this CPU has. klift doctor shows them. Last "
                "bits of results may differ between them.",
                "NO_COLOR\twhen it is not empty, messages have no colour", "TERM\tdumb: no progress bar, lines instead",
                "COLUMNS\tthe width of help, lists and the progress bar, where the terminal does not tell it",
                "Of the tests only:", "KLIFT_DATA\tfolder of the data sets adult and cpuact, for make check",
                "KLIFT_TEST_QUICK\tmake check with smaller counts and without the longest tests", NULL},
     .examples = "  KLIFT_SIMD=portable klift train train.svm\n"},
    {.name = "exit-codes",
     .title = "Exit status",
     .summary = "what the exit codes mean",
     .before = BLOCKS{"0\tdone", "1\tfailed: a matrix could not be factored, a search found nothing, the weights of sgd or doubly-stochastic ran away; give a larger --lambda, look for huge values in the data",
                      "2\tusage: an option, argument or parameter is wrong, or options contradict each other",
                      "3\tdata: a bad row (file:line:column), no rows, one class only, more columns than the model has, missing values",
                      "4\tmodel: not a model, a damaged one, or one of a newer klift",
                      "5\tinput or output: no such file, no permission, disk full, a pattern that matches nothing",
                      "6\tmemory: there is none, or the plan is above --max-memory", "130, 143\tstopped by SIGINT or SIGTERM; files that were there are intact",
                      "141\twhoever read standard output has gone, as in klift predict ... | head",
                      "The last line on standard error says why, after 'klift: '.", NULL},
     .examples = "  klift inspect train.svm >/dev/null && echo fine\n"},
    {.name = NULL},
};

const cli_topic *topics_find(const char *name)
{
    for (const cli_topic *topic = topics; topic->name != NULL; topic++)
        if (strcmp(topic->name, name) == 0)
            return topic;
    return NULL;
}
