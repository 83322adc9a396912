/* Encoding and bounds-checked decoding of the worker's messages; see cuda_msg.h. */
#include "cuda/cuda_msg.h"
#include "model/record_tables.h"
#include "model/record_wire.h"

#include <string.h>

void cuda_put_fault(struct wire_msg *m, const struct cuda_fault *f)
{
	wire_put_u32(m, (uint32_t)f->id);
	wire_put_str(m, f->detail);
}

bool cuda_get_fault(struct wire_msg *m, struct cuda_fault *f)
{
	f->id = (enum fault_id)wire_get_upto(m, FAULT_COUNT - 1);
	wire_get_str(m, f->detail, sizeof f->detail);
	return !m->bad;
}

static void put_bool(struct wire_msg *m, bool b)
{
	wire_put_u32(m, b);
}

static bool get_bool(struct wire_msg *m)
{
	return wire_get_upto(m, 1) != 0;
}

void cuda_put_info(struct wire_msg *m, const struct cuda_info *i)
{
	wire_put_str(m, i->driver);
	wire_put_u32(m, i->driver_cuda);
	wire_put_u32(m, i->cupti);
	wire_put_str(m, i->chip);
	wire_put_str(m, i->cupti_path);
	wire_put_u32(m, i->device);
	wire_put_u32(m, i->n_devices);
	for (unsigned d = 0; d < i->n_devices; d++) {
		wire_put_str(m, i->devices[d].name);
		wire_put_str(m, i->devices[d].bus_id);
		wire_put_u32(m, (uint32_t)i->devices[d].cc_major);
		wire_put_u32(m, (uint32_t)i->devices[d].cc_minor);
		wire_put_u64(m, i->devices[d].bytes);
	}
	for (unsigned c = 0; c < CUDA_MAX_CAPS; c++)
		cuda_put_fault(m, &i->cap[c]);
}

bool cuda_get_info(struct wire_msg *m, struct cuda_info *i)
{
	memset(i, 0, sizeof *i);
	wire_get_str(m, i->driver, sizeof i->driver);
	i->driver_cuda = wire_get_u32(m);
	i->cupti = wire_get_u32(m);
	wire_get_str(m, i->chip, sizeof i->chip);
	wire_get_str(m, i->cupti_path, sizeof i->cupti_path);
	i->device = wire_get_upto(m, CUDA_MAX_DEVICES - 1);
	i->n_devices = wire_get_upto(m, CUDA_MAX_DEVICES);
	for (unsigned d = 0; d < i->n_devices; d++) {
		wire_get_str(m, i->devices[d].name, sizeof i->devices[d].name);
		wire_get_str(m, i->devices[d].bus_id, sizeof i->devices[d].bus_id);
		i->devices[d].cc_major = (int)wire_get_upto(m, 99);
		i->devices[d].cc_minor = (int)wire_get_upto(m, 99);
		i->devices[d].bytes = wire_get_u64(m);
	}
	for (unsigned c = 0; c < CUDA_MAX_CAPS; c++)
		cuda_get_fault(m, &i->cap[c]);
	return wire_end(m);
}

static void put_dim(struct wire_msg *m, struct dim3u d)
{
	wire_put_u32(m, d.x);
	wire_put_u32(m, d.y);
	wire_put_u32(m, d.z);
}

static struct dim3u get_dim(struct wire_msg *m)
{
	struct dim3u d;
	d.x = wire_get_u32(m);
	d.y = wire_get_u32(m);
	d.z = wire_get_u32(m);
	return d;
}

static void put_args(struct wire_msg *m, const struct kernel_arg *args, unsigned n)
{
	for (unsigned a = 0; a < n; a++) {
		wire_put_u32(m, (uint32_t)args[a].kind);
		if (args[a].kind == ARG_BYTES) {
			wire_put_blob(m, args[a].bytes, args[a].size);
			continue;
		}
		uint64_t bits = 0;
		switch (args[a].kind) {
		case ARG_BUFFER: bits = args[a].buffer; break;
		case ARG_F64:
		case ARG_I64: memcpy(&bits, &args[a].i64, sizeof bits); break;
		case ARG_BYTES: break;
		case ARG_I32:
		case ARG_U32:
		case ARG_F32: memcpy(&bits, &args[a].u32, sizeof args[a].u32); break;
		}
		wire_put_u64(m, bits);
		if (args[a].kind == ARG_BUFFER)
			wire_put_u64(m, args[a].offset);
	}
}

static void get_args(struct wire_msg *m, struct kernel_arg *args, unsigned n, unsigned n_buffers)
{
	for (unsigned a = 0; a < n; a++) {
		args[a].kind = (enum arg_kind)wire_get_upto(m, ARG_BYTES);
		if (args[a].kind == ARG_BYTES) {
			size_t size;
			args[a].bytes = wire_get_blob(m, &size);
			args[a].size = (unsigned)size;
			continue;
		}
		uint64_t bits = wire_get_u64(m);
		switch (args[a].kind) {
		case ARG_BUFFER:
			args[a].buffer = (unsigned)bits;
			args[a].offset = wire_get_u64(m);
			if (bits >= n_buffers)
				m->bad = true;
			break;
		case ARG_F64:
		case ARG_I64: memcpy(&args[a].i64, &bits, sizeof bits); break;
		case ARG_BYTES: break;
		case ARG_I32:
		case ARG_U32:
		case ARG_F32: memcpy(&args[a].u32, &bits, sizeof args[a].u32); break;
		}
	}
}

static void put_program(struct wire_msg *m, const struct stream_program *p)
{
	wire_put_u32(m, p->n_ops);
	for (unsigned i = 0; i < p->n_ops; i++) {
		const struct stream_op *op = &p->ops[i];
		wire_put_u32(m, (uint32_t)op->kind);
		wire_put_str(m, op->name);
		wire_put_u32(m, op->stream);
		wire_put_u32(m, op->event);
		wire_put_u32(m, op->buffer);
		wire_put_u32(m, op->launch);
		wire_put_u64(m, op->bytes);
		wire_put_u64(m, op->first);
		wire_put_u64(m, op->count);
		wire_put_f64(m, op->time_ns);
		put_bool(m, op->pinned);
		put_bool(m, op->async);
	}
}

static bool recorded(const struct stream_program *p, unsigned before, unsigned event)
{
	for (unsigned i = 0; i < before; i++)
		if (p->ops[i].kind == SOP_RECORD && p->ops[i].event == event)
			return true;
	return false;
}

/* Every copy lies within its buffer, every kernel's piece within all of them, and a wait has an
 * event. */
static void get_program(struct wire_msg *m, const struct cuda_job *j, struct stream_program *p)
{
	p->n_ops = wire_get_upto(m, STREAM_MAX_OPS);
	for (unsigned i = 0; i < p->n_ops && !m->bad; i++) {
		struct stream_op *op = &p->ops[i];
		op->kind = (enum stream_op_kind)wire_get_upto(m, SOP_HOST);
		wire_get_str(m, op->name, sizeof op->name);
		op->stream = wire_get_upto(m, STREAM_MAX_STREAMS - 1);
		op->event = wire_get_upto(m, STREAM_MAX_EVENTS - 1);
		op->buffer = wire_get_upto(m, KERNEL_MAX_BUFFERS - 1);
		op->launch = wire_get_upto(m, STREAM_LAUNCHES - 1);
		op->bytes = wire_get_u64(m);
		op->first = wire_get_u64(m);
		op->count = wire_get_u64(m);
		op->time_ns = wire_get_f64(m);
		op->pinned = get_bool(m);
		op->async = get_bool(m);
		p->n_streams = op->stream > p->n_streams ? op->stream : p->n_streams;
		if (op->kind == SOP_WAIT && !recorded(p, i, op->event))
			m->bad = true;
		const bool copy = op->kind == SOP_H2D || op->kind == SOP_D2H;
		for (unsigned b = 0; b < j->n_buffers; b++) {
			const uint64_t bytes = j->buffers[b].bytes, elem = j->buffers[b].elem;
			if (copy ? b != op->buffer : op->kind != SOP_KERNEL || !op->count)
				continue;
			const uint64_t n = copy ? op->bytes : op->count * elem;
			if (op->first > bytes || op->count > bytes || op->first * elem > bytes ||
			    n > bytes - op->first * elem)
				m->bad = true;
		}
		if (copy && op->buffer >= j->n_buffers)
			m->bad = true;
	}
}

void cuda_put_job(struct wire_msg *m, const struct cuda_job *j)
{
	wire_put_u32(m, j->device);
	wire_put_u32(m, j->caps);
	wire_put_u32(m, j->repeat);
	put_bool(m, j->warm_l2);
	put_bool(m, j->stalls);
	wire_put_str(m, j->entry);
	wire_put_str(m, j->source_file);
	wire_put_str(m, j->key);
	put_dim(m, j->grid);
	put_dim(m, j->block);
	wire_put_u32(m, j->dynamic_shared_bytes);
	wire_put_u32(m, j->n_buffers);
	for (unsigned b = 0; b < j->n_buffers; b++) {
		wire_put_str(m, j->buffers[b].name);
		wire_put_u64(m, j->buffers[b].offset);
		wire_put_u64(m, j->buffers[b].bytes);
		wire_put_u32(m, (uint32_t)j->buffers[b].role);
		put_bool(m, j->buffers[b].partial);
		put_bool(m, j->buffers[b].patterned);
		wire_put_u32(m, j->buffers[b].pattern);
		wire_put_u32(m, j->buffers[b].elem);
	}
	wire_put_u32(m, j->n_args);
	put_args(m, j->args, j->n_args);
	for (unsigned i = 0; i < STREAM_LAUNCHES; i++) {
		put_dim(m, j->launches[i].grid);
		put_args(m, j->launches[i].args, j->n_args);
	}
	put_program(m, &j->program);
	wire_put_blob(m, j->cubin, j->cubin_len);
	wire_put_blob(m, j->ptx, j->ptx ? j->ptx_len + 1 : 0);
}

bool cuda_get_job(struct wire_msg *m, uint64_t shared_bytes, struct cuda_job *j)
{
	memset(j, 0, sizeof *j);
	j->device = wire_get_upto(m, CUDA_MAX_DEVICES - 1);
	j->caps = wire_get_upto(m, (1u << CUDA_MAX_CAPS) - 1);
	j->repeat = wire_get_upto(m, 1000);
	j->warm_l2 = get_bool(m);
	j->stalls = get_bool(m);
	wire_get_str(m, j->entry, sizeof j->entry);
	wire_get_str(m, j->source_file, sizeof j->source_file);
	wire_get_str(m, j->key, sizeof j->key);
	j->grid = get_dim(m);
	j->block = get_dim(m);
	j->dynamic_shared_bytes = wire_get_u32(m);
	j->n_buffers = wire_get_upto(m, KERNEL_MAX_BUFFERS);
	for (unsigned b = 0; b < j->n_buffers; b++) {
		wire_get_str(m, j->buffers[b].name, sizeof j->buffers[b].name);
		j->buffers[b].offset = wire_get_u64(m);
		j->buffers[b].bytes = wire_get_u64(m);
		j->buffers[b].role = (enum buffer_role)wire_get_upto(m, BUF_INOUT);
		j->buffers[b].partial = get_bool(m);
		j->buffers[b].patterned = get_bool(m);
		j->buffers[b].pattern = wire_get_u32(m);
		j->buffers[b].elem = wire_get_upto(m, 16);
		if (j->buffers[b].bytes > shared_bytes ||
		    j->buffers[b].offset > shared_bytes - j->buffers[b].bytes)
			m->bad = true;
	}
	j->n_args = wire_get_upto(m, KERNEL_MAX_ARGS);
	get_args(m, j->args, j->n_args, j->n_buffers);
	for (unsigned i = 0; i < STREAM_LAUNCHES; i++) {
		j->launches[i].grid = get_dim(m);
		get_args(m, j->launches[i].args, j->n_args, j->n_buffers);
	}
	get_program(m, j, &j->program);
	j->cubin = wire_get_blob(m, &j->cubin_len);
	size_t n;
	j->ptx = wire_get_blob(m, &n);
	if (n && j->ptx[n - 1])
		m->bad = true;
	if (n)
		j->ptx_len = n - 1;
	else
		j->ptx = NULL;
	if (!j->cubin_len)
		j->cubin = NULL;
	return wire_end(m);
}

void cuda_put_report(struct wire_msg *m, const struct cuda_report *r)
{
	record_put(m, &told_table, &r->run);
	for (unsigned i = 0; i < METRIC_COUNT; i++) {
		wire_put_f64(m, r->metric[i]);
		wire_put_u32(m, r->metric_why[i]);
	}
	for (unsigned c = 0; c < CUDA_MAX_CAPS; c++)
		cuda_put_fault(m, &r->cap[c]);
}

bool cuda_get_report(struct wire_msg *m, struct cuda_report *r)
{
	memset(r, 0, sizeof *r);
	record_get(m, &told_table, &r->run);
	for (unsigned i = 0; i < METRIC_COUNT; i++) {
		r->metric[i] = wire_get_f64(m);
		r->metric_why[i] = (uint16_t)wire_get_upto(m, FAULT_COUNT - 1);
	}
	for (unsigned c = 0; c < CUDA_MAX_CAPS; c++)
		cuda_get_fault(m, &r->cap[c]);
	if (wire_end(m))
		return true;
	cuda_report_free(r);
	return false;
}

void cuda_report_free(struct cuda_report *r)
{
	run_result_free(&r->run);
}

void cuda_put_sheet(struct wire_msg *m, const struct gpu_spec *g)
{
	record_put(m, &gpu_table, g);
}

bool cuda_get_sheet(struct wire_msg *m, struct gpu_spec *g)
{
	memset(g, 0, sizeof *g);
	return record_get(m, &gpu_table, g) && wire_end(m) && g->sm_count > 0 && g->warp_size > 0;
}

void cuda_put_gemm(struct wire_msg *m, const struct cuda_gemm_job *j)
{
	wire_put_u32(m, j->device);
	wire_put_u32(m, j->m);
	wire_put_u32(m, j->n);
	wire_put_u32(m, j->k);
	wire_put_u32(m, j->repeat);
	wire_put_u32(m, j->mode);
	put_bool(m, j->warm_l2);
}

bool cuda_get_gemm(struct wire_msg *m, struct cuda_gemm_job *j)
{
	j->device = wire_get_upto(m, CUDA_MAX_DEVICES - 1);
	j->m = wire_get_upto(m, 1u << 17);
	j->n = wire_get_upto(m, 1u << 17);
	j->k = wire_get_upto(m, 1u << 17);
	j->repeat = wire_get_upto(m, 1000);
	j->mode = wire_get_upto(m, 2);
	j->warm_l2 = get_bool(m);
	return wire_end(m) && j->m && j->n && j->k;
}
