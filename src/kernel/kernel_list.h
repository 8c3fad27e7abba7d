/* kernel_list.h - one line per kernel. */
KERNEL(gaussian)
KERNEL(linear)
KERNEL(laplacian)
KERNEL(cauchy)
KERNEL(matern)
