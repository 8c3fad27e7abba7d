/* reader_list.h - one line per format; detection asks them in this order, svmlight takes what is left. */
READER(npy)
READER(npz)
READER(idx)
READER(synthetic)
READER(arrays)
READER(source)
READER(csv)
READER(svmlight)
