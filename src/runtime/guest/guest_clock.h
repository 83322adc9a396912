/*
 * Two clocks. The host's: what the program itself took, without the time that emulation took in
 * its calls, but with the waits for the GPU that a call would have had. The GPU's: when each
 * operation starts and ends on the modelled device, by CUDA's rules of streams and engines.
 *
 * Events are answered from the GPU's clock, so that a program prints the device's times.
 */
#ifndef PMPP_RUNTIME_GUEST_CLOCK_H
#define PMPP_RUNTIME_GUEST_CLOCK_H

#include "runtime/guest/guest.h"

enum guest_engine { GUEST_ENGINE_H2D, GUEST_ENGINE_D2H, GUEST_ENGINE_SM, GUEST_ENGINE_NONE };

/* Called at the start and end of every call of the API: what lies between is not the program's
 * time. May be nested. */
void clock_enter(void);
void clock_leave(void);
double clock_host_ns(void);

struct clock_span {
	double call_ns, start_ns, end_ns;
};
/*
 * Puts an operation of @ns on @engine behind what is in the stream; @share: of the SMs (kernels
 * of different streams may run side by side). @call_ns: what the host's call costs.
 */
struct clock_span clock_place(struct guest_stream *s, enum guest_engine engine, double ns,
                              double share, double call_ns);
/* A kernel that was called at @call_ns and ends now, when what it waited for had come; not before
 * @ns. */
struct clock_span clock_place_held(struct guest_stream *s, double call_ns, double ns, double share,
                                   double launch_call_ns);
/* The host waits until the GPU's clock shows @ns: it knows then that what ended before is done. */
void clock_wait_until(double ns);
/* It learns that without waiting. */
void clock_known(double ns);
double clock_known_ns(void);
/* The host's clock goes on by @ns: it asks, and is told "not yet". */
void clock_pass(double ns);
/* When everything that was placed so far is done. */
double clock_all_done_ns(void);
/* When what was placed in @s, or in streams that @s waits for, is done. */
double clock_stream_done_ns(const struct guest_stream *s);

#endif
