/*
 * The runtime's lock. Its holder may take it again; a call that waits for the GPU lets others have
 * it meanwhile, and so does a launch that waits for the host.
 */
#ifndef PMPP_RUNTIME_GUEST_LOCK_H
#define PMPP_RUNTIME_GUEST_LOCK_H

#include <pthread.h>

void guest_lock(void);
void guest_unlock(void);
/* How often the caller, who holds it, has taken it. */
unsigned guest_lock_depth(void);
/* The caller's lock is @to's from now on, as if taken @depth times ... */
void guest_lock_hand(pthread_t to, unsigned depth);
/* ... who waits for that. */
void guest_lock_await(void);
/* Others have it until guest_lock_signal() or for @seconds. */
void guest_lock_wait(double seconds);
void guest_lock_signal(void);
/* Each of those who want it now gets it once, if any. */
void guest_lock_breathe(void);

#endif
