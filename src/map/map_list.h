/* map_list.h - one line per map. */
MAP(identity)
MAP(fourier)
MAP(orthogonal)
MAP(fastfood)
MAP(nystrom)
MAP(maclaurin)
MAP(tensor_sketch)
MAP(tree)
MAP(homogeneous)
MAP(product)
MAP(craft)
MAP(copies)
MAP(taylor)
MAP(monomial)
#ifndef KLIFT_WITHOUT_SPHERICAL
MAP(spherical)
#endif
