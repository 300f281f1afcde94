/* The time that passes, for people: never for decisions. */
#ifndef OCDM_BASE_CLOCK_H
#define OCDM_BASE_CLOCK_H

/* Seconds since some fixed moment, on a clock that only goes forward. */
double ocdm__seconds_now(void);

#endif
