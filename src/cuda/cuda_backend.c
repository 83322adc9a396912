/*
 * backend_cuda: a run request to the worker process and back; see backend.h and cuda.h.
 *
 * Buffers travel in a shared-memory file. One worker is kept between uses, parked when no back end
 * is open, so that a probe's driver start is not paid twice. Loads no CUDA library.
 */
#include "cuda/cuda.h"
#include "base/monotonic.h"
#include "cuda/cuda_client.h"
#include "cuda/cuda_counters.h"
#include "cuda/cuda_result.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/record_tables.h"
#include "model/record_wire.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_TIMEOUT_S 60

struct backend {
	struct cuda_client client;
	const struct gpu_spec *gpu; /* NULL = not told */
	unsigned device;
};

static pthread_mutex_t parked_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cuda_client parked = CUDA_CLIENT_INIT;

/* Takes the parked worker if it serves @device or none yet; else an unstarted client. */
static struct cuda_client unpark(unsigned device)
{
	struct cuda_client c = CUDA_CLIENT_INIT, wrong = CUDA_CLIENT_INIT;
	pthread_mutex_lock(&parked_lock);
	if (parked.child.pid && (parked.device < 0 || parked.device == (int)device))
		c = parked;
	else
		wrong = parked;
	parked = (struct cuda_client)CUDA_CLIENT_INIT;
	pthread_mutex_unlock(&parked_lock);
	if (wrong.child.pid)
		client_stop(&wrong);
	return c;
}

static void park(struct cuda_client *c)
{
	pthread_mutex_lock(&parked_lock);
	struct cuda_client old = parked;
	parked = *c;
	pthread_mutex_unlock(&parked_lock);
	if (old.child.pid)
		client_stop(&old);
	*c = (struct cuda_client)CUDA_CLIENT_INIT;
}

static atomic_int chosen = -1;

/* "cuda1" */
static bool device_number(const char *id, unsigned *n)
{
	int64_t v = 0;
	if (strncmp(id, "cuda", 4) || !parse_int(id + 4, &v) || v < 0 || v >= CUDA_MAX_DEVICES)
		return false;
	*n = (unsigned)v;
	return true;
}

static bool choose(const char *gpu)
{
	unsigned n;
	if (!device_number(gpu, &n))
		return false;
	atomic_store(&chosen, (int)n);
	return true;
}

unsigned cuda_device_wanted(void)
{
	const int by_hand = atomic_load(&chosen);
	if (by_hand >= 0)
		return (unsigned)by_hand;
	const char *s = getenv("PMPP_CUDA_DEVICE");
	int64_t n = 0;
	return s && parse_int(s, &n) && n >= 0 && n < CUDA_MAX_DEVICES ? (unsigned)n : 0;
}

/* --- questions without a run --- */

static bool ask(struct cuda_client *c, unsigned device, struct wire_msg *request,
                enum cuda_msg want, const struct client_wait *wait, struct wire_msg *answer,
                struct cuda_fault *fault, struct err *err)
{
	bool ok = client_call(c, request, -1, want, wait, answer, fault, err);
	if (ok)
		c->device = (int)device;
	wire_free(request);
	return ok;
}

static bool nonsense(struct wire_msg *m, const char *what, struct cuda_client *c, struct err *err)
{
	wire_free(m);
	client_stop(c);
	err_set(err, ERR_INTERNAL, "%s: the GPU worker's answer could not be read", what);
	return err_remedy(err, "%s", fault_remedy(FAULT_WORKER));
}

bool cuda_probe(unsigned device, struct cuda_info *out, struct err *err)
{
	struct cuda_client c = unpark(device);
	const struct client_wait wait = { .quiet_s = 30, .what = "looking for a GPU" };
	struct wire_msg request, answer;
	wire_begin(&request, MSG_PROBE);
	wire_put_u32(&request, device);
	memset(out, 0, sizeof *out);
	bool ok = ask(&c, device, &request, MSG_PROBED, &wait, &answer, NULL, err);
	if (ok && !cuda_get_info(&answer, out))
		ok = nonsense(&answer, wait.what, &c, err);
	else if (ok)
		wire_free(&answer);
	park(&c);
	return ok;
}

bool cuda_gpu_spec(unsigned device, const struct gpu_spec **out, struct err *err)
{
	struct gpu_spec sheet;
	struct cuda_client c = unpark(device);
	const struct client_wait wait = { .quiet_s = 30, .what = "asking the GPU for its figures" };
	struct wire_msg request, answer;
	wire_begin(&request, MSG_SHEET);
	wire_put_u32(&request, device);
	bool ok = ask(&c, device, &request, MSG_SHEET_IS, &wait, &answer, NULL, err);
	if (ok && !cuda_get_sheet(&answer, &sheet))
		ok = nonsense(&answer, wait.what, &c, err);
	else if (ok)
		wire_free(&answer);
	if (ok)
		*out = gpu_intern(&sheet);
	park(&c);
	return ok;
}

static const struct {
	const char *name, *about;
} gemm_modes[] = {
#define X(id, name_, about_) [id] = { .name = name_, .about = about_ },
	CUDA_GEMM_MODES(X)
#undef X
};

const char *cuda_gemm_name(enum cuda_gemm_mode mode)
{
	return (unsigned)mode < GEMM_MODE_COUNT ? gemm_modes[mode].name : "?";
}

const char *cuda_gemm_about(enum cuda_gemm_mode mode)
{
	return (unsigned)mode < GEMM_MODE_COUNT ? gemm_modes[mode].about : "?";
}

bool cuda_gemm_time(unsigned device, enum cuda_gemm_mode mode, unsigned m, unsigned n, unsigned k,
                    const atomic_bool *cancel, struct run_timing *out, struct err *err)
{
	struct cuda_client c = unpark(device);
	const struct client_wait wait = { .cancel = cancel, .what = cuda_gemm_name(mode) };
	const struct cuda_gemm_job job = {
		.device = device, .m = m, .n = n, .k = k, .mode = (unsigned)mode
	};
	struct wire_msg request, answer;
	wire_begin(&request, MSG_GEMM);
	cuda_put_gemm(&request, &job);
	memset(out, 0, sizeof *out);
	bool ok = ask(&c, device, &request, MSG_GEMM_IS, &wait, &answer, NULL, err);
	if (ok && !(record_get(&answer, &timing_table, out) && wire_end(&answer)))
		ok = nonsense(&answer, wait.what, &c, err);
	else if (ok)
		wire_free(&answer);
	park(&c);
	return ok;
}

static unsigned stall_index(const char *reason)
{
	unsigned i = 0;
	while (stall_name(i) && strcmp(stall_name(i), reason))
		i++;
	return i;
}

const char *cuda_stall_title(const char *reason)
{
	return stall_title(stall_index(reason));
}

const char *cuda_stall_about(const char *reason)
{
	return stall_about(stall_index(reason));
}

/* --- the common interface --- */

static bool probe(struct backend_info *info, struct err *err)
{
	memset(info, 0, sizeof *info);
	struct cuda_info ci;
	struct err local = { 0 };
	if (!cuda_probe(cuda_device_wanted(), &ci, &local)) {
		for (unsigned c = 0; c < CUDA_MAX_CAPS; c++) {
			snprintf(info->missing[c].reason, sizeof info->missing[c].reason, "%.255s", local.msg);
			snprintf(info->missing[c].remedy, sizeof info->missing[c].remedy, "%.511s",
			         local.remedy);
		}
		snprintf(info->title, sizeof info->title, "no GPU");
		if (err)
			*err = local;
		return false;
	}
	info->n_devices = ci.n_devices;
	info->chosen = ci.device;
	for (unsigned d = 0; d < ci.n_devices; d++)
		memcpy(info->device[d], ci.devices[d].name, sizeof info->device[d]);
	for (unsigned c = 0; c < CUDA_MAX_CAPS; c++) {
		const struct cuda_fault *f = &ci.cap[c];
		if (f->id == FAULT_NONE) {
			info->caps |= 1u << c;
			continue;
		}
		snprintf(info->missing[c].reason, sizeof info->missing[c].reason, "%s%s%.150s%s",
		         fault_reason(f->id), f->detail[0] ? " (" : "", f->detail, f->detail[0] ? ")" : "");
		snprintf(info->missing[c].remedy, sizeof info->missing[c].remedy, "%s",
		         fault_remedy(f->id));
	}
	if (!(info->caps & CAP_TIME)) {
		snprintf(info->title, sizeof info->title, "no GPU");
		return fault_to_err(&ci.cap[CAPN_TIME], err);
	}
	const char *name = ci.device < ci.n_devices ? ci.devices[ci.device].name : "GPU";
	char cupti[48] = "no CUPTI";
	if (ci.cupti)
		snprintf(cupti, sizeof cupti, "CUPTI %u", ci.cupti);
	snprintf(info->title, sizeof info->title, "%.30s, driver %.16s (CUDA %u.%u), %.20s", name,
	         ci.driver[0] ? ci.driver : "unknown", ci.driver_cuda / 1000,
	         ci.driver_cuda % 1000 / 10, cupti);
	return true;
}

/* The sheet of a live device is called cudaN. */
static unsigned device_of(const struct gpu_spec *gpu)
{
	unsigned n;
	return gpu && gpu->live && device_number(gpu->id, &n) ? n : cuda_device_wanted();
}

static bool open_backend(struct backend **be, const struct gpu_spec *gpu, struct err *err)
{
	(void)err; /* the worker starts with the first run, which says what is wrong */
	struct backend *b = mem_zalloc(sizeof *b);
	b->gpu = gpu && gpu->sm_count ? gpu : NULL;
	b->device = device_of(gpu);
	b->client = unpark(b->device);
	*be = b;
	return true;
}

static void close_backend(struct backend *b)
{
	if (!b)
		return;
	park(&b->client);
	free(b);
}

/* Where the buffers lie for the worker: where they are if that can be, else a copy. */
static bool share(const struct run_request *req, const struct cuda_job *j, uint64_t bytes,
                  const atomic_bool *cancel, struct shared_memory *s, struct err *err)
{
	if (req->memory) {
		*s = *req->memory;
		return true;
	}
	if (!shared_memory_make(s, bytes, "the GPU worker", err))
		return false;
	for (unsigned b = 0; b < j->n_buffers; b++)
		if (!mem_copy_until(s->data + j->buffers[b].offset, req->buffers[b].data,
		                    req->buffers[b].bytes, cancel)) {
			shared_memory_drop(s);
			return err_set(err, ERR_CANCELLED, "kernel %s: %s", j->entry,
			               fault_reason(FAULT_CANCELLED));
		}
	return true;
}

static bool make_job(const struct backend *be, const struct run_request *req, struct cuda_job *j,
                     uint64_t *bytes, struct err *err)
{
	const struct launch_plan *p = req->plan;
	const struct module *m = req->module;
	memset(j, 0, sizeof *j);
	if (strlen(p->entry) >= sizeof j->entry)
		return err_set(err, ERR_UNSUPPORTED, "entry '%s': a name of more than %zu characters",
		               p->entry, sizeof j->entry - 1);
	*j = (struct cuda_job){
		.device = be->device,
		.caps = req->caps & ((1u << CUDA_MAX_CAPS) - 1),
		.repeat = req->repeat > 1000 ? 1000 : req->repeat,
		.warm_l2 = req->warm_l2,
		.stalls = req->stalls,
		.grid = p->grid,
		.block = p->block,
		.dynamic_shared_bytes = p->dynamic_shared_bytes,
		.n_buffers = p->n_buffers,
		.n_args = p->n_args,
		.cubin = m->cubin,
		.cubin_len = m->cubin ? m->cubin_len : 0,
		.ptx = m->ptx,
		.ptx_len = m->ptx ? m->ptx_len : 0,
	};
	snprintf(j->entry, sizeof j->entry, "%s", p->entry);
	snprintf(j->source_file, sizeof j->source_file, "%.127s",
	         req->source_file ? req->source_file : "");
	snprintf(j->key, sizeof j->key, "%s", m->key);
	memcpy(j->args, p->args, sizeof j->args);
	uint64_t at = 0;
	for (unsigned b = 0; b < p->n_buffers; b++) {
		if (p->buffers[b].variable) {
			err_set(err, ERR_UNSUPPORTED, "variable '%s': launches on a GPU set no variables yet",
			        p->buffers[b].name);
			return err_remedy(err, "run it with --backend emu");
		}
		snprintf(j->buffers[b].name, sizeof j->buffers[b].name, "%.31s",
		         p->buffers[b].name ? p->buffers[b].name : "");
		const struct run_buffer *buffer = &req->buffers[b];
		j->buffers[b].offset =
			req->memory ? (uint64_t)((const uint8_t *)buffer->data - req->memory->data) : at;
		j->buffers[b].bytes = buffer->bytes;
		j->buffers[b].patterned = buffer->patterned;
		j->buffers[b].pattern = buffer->pattern;
		j->buffers[b].role = p->buffers[b].role;
		j->buffers[b].partial = p->buffers[b].partial;
		j->buffers[b].elem = (uint32_t)elem_size(p->buffers[b].type);
		at += (req->buffers[b].bytes + 255) & ~(uint64_t)255;
	}
	*bytes = req->memory ? req->memory->bytes : at ? at : 256;
	if (req->program)
		j->program = *req->program;
	else
		stream_pipeline(p, &(struct stream_knobs){ .streams = 1, .chunks = 1, .pinned = true }, 0,
		                1, &j->program);
	for (unsigned i = 0; i < STREAM_LAUNCHES; i++) {
		const struct launch_plan *of = req->program && req->launches ? &req->launches[i] : p;
		j->launches[i].grid = of->grid;
		memcpy(j->launches[i].args, of->args, sizeof j->launches[i].args);
	}
	return true;
}

/* One job by one worker; @fault says what ended it. */
static bool run_once(struct backend *be, const struct run_request *req, const struct cuda_job *job,
                     uint64_t bytes, const struct run_hooks *hooks, struct run_result *res,
                     struct cuda_fault *fault, struct err *err)
{
	const double begin = clock_now_s();
	struct shared_memory s;
	if (!share(req, job, bytes, hooks ? hooks->cancel : NULL, &s, err))
		return false;
	char what[300];
	snprintf(what, sizeof what, "kernel %s", job->entry);
	const struct client_wait wait = {
		.quiet_s = req->timeout_s > 0 ? req->timeout_s : DEFAULT_TIMEOUT_S,
		.cancel = hooks ? hooks->cancel : NULL,
		.progress = hooks ? hooks->progress : NULL,
		.ctx = hooks ? hooks->ctx : NULL,
		.what = what,
	};
	struct wire_msg request, answer;
	wire_begin(&request, MSG_RUN);
	cuda_put_job(&request, job);
	bool ok = client_call(&be->client, &request, s.fd, MSG_REPORT, &wait, &answer, fault, err);
	wire_free(&request);
	if (ok) {
		be->client.device = (int)be->device;
		struct cuda_report *r = mem_alloc(sizeof *r);
		if (cuda_get_report(&answer, r)) {
			wire_free(&answer);
			for (unsigned b = 0; b < job->n_buffers && !req->memory; b++)
				memcpy(req->buffers[b].data, s.data + job->buffers[b].offset,
				       req->buffers[b].bytes);
			unsigned caps = job->caps ? job->caps : (1u << CUDA_MAX_CAPS) - 1;
			cuda_result(r, req->plan, be->gpu, req->module->ptx, caps, res);
			res->wall_s = clock_now_s() - begin;
		} else {
			ok = nonsense(&answer, what, &be->client, err);
		}
		free(r);
	}
	if (!req->memory)
		shared_memory_drop(&s);
	return ok;
}

/* What a first try may have changed. */
static void restore(const struct run_request *req)
{
	for (unsigned b = 0; b < req->plan->n_buffers && req->memory; b++)
		if (req->buffers[b].before)
			memcpy(req->buffers[b].data, req->buffers[b].before, req->buffers[b].bytes);
}

static bool run(struct backend *be, const struct run_request *req, const struct run_hooks *hooks,
                struct run_result *res, struct err *err)
{
	memset(res, 0, sizeof *res);
	struct cuda_job *job = mem_alloc(sizeof *job);
	uint64_t bytes = 0;
	bool ok = make_job(be, req, job, &bytes, err);
	/* CUPTI kills a worker now and then, for no reason of the job: it gets another one */
	for (unsigned tries = 0; ok && tries < 2; tries++) {
		struct cuda_fault fault = { 0 };
		struct err why = { 0 };
		if (run_once(be, req, job, bytes, hooks, res, &fault, &why))
			break;
		ok = fault.id == FAULT_WORKER && tries == 0;
		if (!ok)
			*err = why;
		else
			restore(req);
	}
	free(job);
	return ok;
}

static bool own_sheet(const struct gpu_spec **out, struct err *err)
{
	return cuda_gpu_spec(cuda_device_wanted(), out, err);
}

static unsigned library(unsigned m, unsigned n, unsigned k, enum tensor_input inputs,
                        const atomic_bool *cancel, struct library_line *out, unsigned max,
                        struct err *err)
{
	const enum cuda_gemm_mode first = inputs == TENSOR_F16    ? GEMM_FP16
	                                  : inputs == TENSOR_TF32 ? GEMM_TF32
	                                                          : GEMM_FP32;
	unsigned got = 0;
	for (unsigned i = 0; i < GEMM_MODE_COUNT && got < max; i++) {
		const enum cuda_gemm_mode mode = (first + i) % GEMM_MODE_COUNT;
		struct library_line *l = &out[got];
		*l = (struct library_line){ .comparable = mode == first };
		snprintf(l->name, sizeof l->name, "%s", cuda_gemm_name(mode));
		snprintf(l->about, sizeof l->about, "%s", cuda_gemm_about(mode));
		if (!cuda_gemm_time(cuda_device_wanted(), mode, m, n, k, cancel, &l->timing, err))
			return got;
		got++;
	}
	return got;
}

const struct backend_ops backend_cuda = {
	.name = "cuda",
	.wants_shared_memory = true,
	.probe = probe,
	.open = open_backend,
	.run = run,
	.close = close_backend,
	.sheet = own_sheet,
	.choose = choose,
	.library = library,
};
