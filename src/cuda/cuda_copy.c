/*
 * One buffer there or back, by pieces, so that a person can stop it between two.
 *
 * The driver copies pageable memory on one thread. A large buffer therefore goes through
 * page-locked pieces of ours: all cores fill one while the GPU fetches the other.
 */
#include "cuda/cuda_work.h"
#include "base/parallel.h"

#define PIECE ((uint64_t)16 << 20) /* a millisecond or two, as the driver copies it */
#define SLOT ((uint64_t)32 << 20)
#define LARGE (4 * SLOT) /* page-locking the slots takes as long as copying this */

static bool by_driver(struct gpu_worker *w, CUdeviceptr device, uint8_t *host, uint64_t bytes,
                      bool back, struct cuda_fault *why)
{
	parallel_touch(host, bytes); /* the driver would fault one page after the other */
	for (uint64_t at = 0; at < bytes; at += PIECE) {
		const uint64_t n = bytes - at < PIECE ? bytes - at : PIECE;
		const CUresult r = back ? w->cu.MemcpyDtoH(host + at, device + at, n)
		                        : w->cu.MemcpyHtoD(device + at, host + at, n);
		if (!cu_ok(w, r, back ? "cuMemcpyDtoH" : "cuMemcpyHtoD", why) || work_stopped(w, why))
			return false;
	}
	return true;
}

/* Without memory to lock, or events: false, and the driver may do it alone. */
static bool slots_ready(struct gpu_worker *w)
{
	struct copy_slot *const s = w->slots;
	for (unsigned i = 0; i < COPY_SLOTS; i++) {
		if (!s[i].host && w->cu.MemHostAlloc(&s[i].host, SLOT, 0) != CUDA_SUCCESS)
			return false;
		if (!s[i].done && w->cu.EventCreate(&s[i].done, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
			return false;
	}
	return true;
}

void copy_end(struct gpu_worker *w)
{
	for (unsigned i = 0; i < COPY_SLOTS && !w->poisoned; i++) {
		if (w->slots[i].host)
			w->cu.MemFreeHost(w->slots[i].host);
		if (w->slots[i].done)
			w->cu.EventDestroy(w->slots[i].done);
		w->slots[i] = (struct copy_slot){ 0 };
	}
}

static bool fetched(struct gpu_worker *w, const struct copy_slot *s, struct cuda_fault *why)
{
	return cu_ok(w, w->cu.EventSynchronize(s->done), "cuEventSynchronize", why);
}

/* What one turn of the copy has in hand. */
struct piece {
	struct copy_slot *slot;
	uint64_t at, n;
};

static struct piece piece_of(struct gpu_worker *w, uint64_t i, uint64_t bytes)
{
	const uint64_t at = i * SLOT;
	return (struct piece){ &w->slots[i % COPY_SLOTS], at, bytes - at < SLOT ? bytes - at : SLOT };
}

static bool up(struct gpu_worker *w, CUdeviceptr device, const uint8_t *host, uint64_t bytes,
               struct cuda_fault *why)
{
	const uint64_t pieces = (bytes + SLOT - 1) / SLOT;
	for (uint64_t i = 0; i < pieces; i++) {
		const struct piece p = piece_of(w, i, bytes);
		if (i >= COPY_SLOTS && !fetched(w, p.slot, why))
			return false;
		parallel_copy(p.slot->host, host + p.at, p.n);
		if (!cu_ok(w, w->cu.MemcpyHtoDAsync(device + p.at, p.slot->host, p.n, w->stream),
		           "cuMemcpyHtoDAsync", why) ||
		    !cu_ok(w, w->cu.EventRecord(p.slot->done, w->stream), "cuEventRecord", why) ||
		    work_stopped(w, why))
			return false;
	}
	return true;
}

static bool ask(struct gpu_worker *w, CUdeviceptr device, const struct piece *p,
                struct cuda_fault *why)
{
	return cu_ok(w, w->cu.MemcpyDtoHAsync(p->slot->host, device + p->at, p->n, w->stream),
	             "cuMemcpyDtoHAsync", why) &&
	       cu_ok(w, w->cu.EventRecord(p->slot->done, w->stream), "cuEventRecord", why);
}

static bool down(struct gpu_worker *w, CUdeviceptr device, uint8_t *host, uint64_t bytes,
                 struct cuda_fault *why)
{
	const uint64_t pieces = (bytes + SLOT - 1) / SLOT;
	for (uint64_t i = 0; i < COPY_SLOTS && i < pieces; i++) {
		const struct piece p = piece_of(w, i, bytes);
		if (!ask(w, device, &p, why))
			return false;
	}
	for (uint64_t i = 0; i < pieces; i++) {
		const struct piece p = piece_of(w, i, bytes);
		if (!fetched(w, p.slot, why))
			return false;
		parallel_copy(host + p.at, p.slot->host, p.n);
		const struct piece next = piece_of(w, i + COPY_SLOTS, bytes);
		if ((i + COPY_SLOTS < pieces && !ask(w, device, &next, why)) || work_stopped(w, why))
			return false;
	}
	return true;
}

bool copy_buffer(struct gpu_worker *w, CUdeviceptr device, uint8_t *host, uint64_t bytes, bool back,
                 struct cuda_fault *why)
{
	if (bytes < LARGE || !slots_ready(w))
		return by_driver(w, device, host, bytes, back, why);
	const bool ok = back ? down(w, device, host, bytes, why) : up(w, device, host, bytes, why);
	/* before the slots are filled again, or freed */
	const CUresult r = w->cu.StreamSynchronize(w->stream);
	return ok && cu_ok(w, r, "cuStreamSynchronize", why);
}
