/* gamma.h - the logarithm of the gamma function, as C's lgamma but without its global sign: lgamma may not be called by two threads. */
#ifndef KL_GAMMA_H
#define KL_GAMMA_H

/* log Gamma(x) for x > 0 (log (n - 1)! at x = n), within 1e-14 of itself or of 1, whichever is larger; whole x up to 23 correctly rounded. */
double kl_log_gamma(double x);

#endif
