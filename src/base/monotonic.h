/*
 * The clock that deadlines and durations are taken from: it never jumps.
 */
#ifndef PMPP_BASE_MONOTONIC_H
#define PMPP_BASE_MONOTONIC_H

/* Seconds since some fixed moment (CLOCK_MONOTONIC). */
double clock_now_s(void);

#endif
