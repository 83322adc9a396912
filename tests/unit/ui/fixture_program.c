/* Whole programs: what a run of one leaves in the session. */
#include "fixture.h"

static void add_kernel(struct program *p, const char *name, const char *signature)
{
	p->kernels = mem_realloc(p->kernels, p->n_kernels + 1u, sizeof *p->kernels);
	p->kernels[p->n_kernels] = (struct program_kernel){
		.name = mem_strdup(name),
		.signature = mem_strdup(signature),
		.mangled = mem_strdup(signature),
		.file = mem_strdup("train.cu"),
		.id = p->n_kernels + 1,
		.registers = 32,
	};
	p->n_kernels++;
}

static struct metric_set *metrics(double intensity, double gflops, const char *bound, double bytes)
{
	struct metric_set *m = mem_zalloc(sizeof *m);
	metrics_clear(m, "not in this fixture");
	metric_num(m, M_ROOF_AI, ORIGIN_MODELLED, intensity);
	metric_num(m, M_ROOF_ACHIEVED, ORIGIN_MODELLED, gflops);
	metric_text(m, M_TIME_BOTTLENECK, ORIGIN_MODELLED, bound);
	metric_num(m, M_DRAM_READ, ORIGIN_MODELLED, bytes);
	metric_num(m, M_DRAM_WRITE, ORIGIN_MODELLED, bytes / 4);
	return m;
}

struct step {
	unsigned kernel, grid, block, stream;
	double us;
};

static void add_launch(struct program *p, const struct step *x, double *at)
{
	const bool first = p->n_launches < 3;
	p->launches = mem_realloc(p->launches, p->n_launches + 1, sizeof *p->launches);
	p->launches[p->n_launches] = (struct program_launch){
		.number = p->n_launches + 1,
		.kernel = x->kernel,
		.stream = x->stream,
		.grid = { x->grid, x->kernel ? 1 : x->grid, 1 },
		.block = { x->block, 1, 1 },
		.span = { *at, *at + 4e3, *at + 4e3 + 1e3 * x->us },
		.like = first ? p->n_launches + 1 : x->kernel + 1,
		.metrics = first ? metrics(x->kernel ? 0.25 : 16, x->kernel ? 800 : 9000,
		                           x->kernel ? "DRAM" : "shared", 4e6)
		                 : NULL,
	};
	p->n_launches++;
	*at += 6e3 + 1e3 * x->us;
}

static void add_copy(struct program *p, enum program_direction d, uint64_t bytes, bool pinned,
                     double *at)
{
	p->copies = mem_realloc(p->copies, p->n_copies + 1, sizeof *p->copies);
	const double ns = (double)bytes / (pinned ? 50 : 8);
	p->copies[p->n_copies] = (struct program_copy){
		.number = p->n_copies + 1,
		.direction = d,
		.bytes = bytes,
		.pinned = pinned,
		.async = pinned,
		.span = { *at, *at + 2e3, *at + 2e3 + ns },
		.before = p->n_launches + 1,
	};
	p->n_copies++;
	*at += ns + 3e3;
}

/* A training loop: a product, a reduction over its rows, a loss; two epochs. @gemm_us tells the
 * versions apart. */
static struct program *training(double gemm_us)
{
	const struct step steps[] = { { 0, 64, 256, 0, gemm_us }, { 1, 4096, 128, 1, 21 },
		                          { 2, 1, 1024, 0, 11 },      { 0, 64, 256, 0, gemm_us },
		                          { 1, 4096, 128, 1, 21 },    { 2, 1, 1024, 0, 11 } };
	struct program *p = mem_zalloc(sizeof *p);
	double at = 5e3;
	p->gpu = fixture_a100();
	p->path = mem_strdup("./train");
	p->command = mem_strdup("./train --epochs 2");
	p->time_origin = ORIGIN_MODELLED;
	p->ended = true;
	snprintf(p->backend, sizeof p->backend, "emu");
	add_kernel(p, "gemm<128, 128>", "gemm<128, 128>(float const*, float const*, float*, int)");
	add_kernel(p, "softmax_rows", "softmax_rows(float*, int)");
	add_kernel(p, "reduce_loss", "reduce_loss(float const*, float*, int)");
	add_copy(p, PROGRAM_H2D, 4 << 20, false, &at);
	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		add_launch(p, &steps[i], &at);
		if (steps[i].kernel == 2) {
			add_copy(p, PROGRAM_D2H, 1024, true, &at);
			at += 40e3; /* the host works */
		}
	}
	p->marks = mem_calloc(2, sizeof *p->marks);
	p->marks[p->n_marks++] = (struct program_mark){ .event = 1, .at_ns = 600e3 };
	p->marks[p->n_marks++] =
		(struct program_mark){ .event = 1, .stream = 1, .wait = true, .at_ns = 600e3 };
	p->output = mem_strdup("epoch 1 loss 0.4312\nepoch 2 loss 0.2145\ndone\n");
	p->errors = mem_strdup("warning: no checkpoint\n");
	program_sum_up(p);
	return p;
}

static const char training_source[] = "__global__ void softmax_rows(float *x, int n)\n"
									  "{\n"
									  "\tx[threadIdx.x] = n;\n"
									  "}\n";

static struct session *session_of(struct program *p)
{
	struct session *s = fixture_done();
	record_free(s->before);
	s->before = NULL;
	s->view = "launch_list";
	s->program = mem_zalloc(sizeof *s->program);
	s->program->command = mem_strdup("./train --epochs 2");
	s->program->now = p;
	s->program->launch = p ? p->groups[0].first : 0;
	s->source = training_source;
	return s;
}

struct session *fixture_program(void)
{
	return session_of(training(470));
}

struct session *fixture_program_moved(void)
{
	struct session *s = session_of(training(235));
	s->program->before = training(470);
	return s;
}

struct session *fixture_program_faulty(void)
{
	struct program *p = training(470);
	p->exit_status = 1;
	p->n_findings = 2;
	p->findings = mem_calloc(2, sizeof *p->findings);
	p->findings[0] = (struct program_finding){
		.launch = 2,
		.times = 128,
		.error = true,
		.kind = mem_strdup("race"),
		.text = mem_strdup("/home/ann/course/train.cu:88: softmax_rows: shared memory is read "
		                   "before it is written"),
		.remedy = mem_strdup("put a barrier in between"),
		.file = mem_strdup("/home/ann/course/train.cu"),
		.line = 88,
	};
	p->findings[1] = (struct program_finding){
		.times = 1,
		.kind = mem_strdup("leak"),
		.text = mem_strdup("4194304 bytes of device memory are never freed"),
		.remedy = mem_strdup("call cudaFree()"),
		.file = mem_strdup(""),
	};
	program_sum_up(p);
	return session_of(p);
}

/* The launch that was at fault is the chosen one. */
struct session *fixture_program_chosen(void)
{
	struct session *s = fixture_program_faulty();
	s->program->launch = 2;
	return s;
}

static struct session *without_run(void)
{
	struct session *s = session_of(NULL);
	record_free(s->now);
	s->now = NULL;
	s->plan_ok = s->usage_known = s->occ_ok = false;
	return s;
}

struct session *fixture_program_running(void)
{
	struct session *s = without_run();
	s->state = RUN_RUNNING;
	s->program->launches = 312;
	s->program->copies = 40;
	s->program->output = mem_strdup("epoch 1 loss 0.4312\n");
	return s;
}

struct session *fixture_program_error(void)
{
	return fixture_with_error(without_run(), ERR_COMPILE,
	                          "nvcc does not compile this:\ntrain.cu(8): error: expected a "
	                          "\";\"\n    x[i] *= n\n             ^\n",
	                          NULL);
}

/* It ran and used no GPU. */
struct session *fixture_program_idle(void)
{
	struct session *s = without_run();
	struct program *p = s->program->now = mem_zalloc(sizeof *p);
	p->gpu = fixture_a100();
	p->ended = true;
	program_sum_up(p);
	s->state = RUN_DONE;
	return s;
}
