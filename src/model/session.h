/*
 * What a person has chosen, and what came of it: the only thing views see.
 *
 * Plain data. The program's thread of control (lab.c) fills it; views read it. A session holds
 * no thread, file, terminal or back end, so that a panel can be drawn in a test from a literal.
 */
#ifndef PMPP_MODEL_SESSION_H
#define PMPP_MODEL_SESSION_H

#include "model/code_listing.h"
#include "model/counts.h"
#include "model/gpu.h"
#include "model/kernel.h"
#include "model/run_result.h"
#include "model/metric.h"
#include "model/occupancy.h"
#include "model/pace.h"
#include "model/perf.h"
#include "model/preset.h"
#include "model/span.h"
#include "model/stream.h"

struct ladder;          /* model/ladder.h */
struct sweep_map;       /* model/sweep_map.h */
struct session_program; /* model/program_session.h */
struct run_brief;       /* model/brief.h */
struct buffer_looks;    /* model/buffer_look.h */

enum verify_state { VERIFY_NOT_RUN, VERIFY_OK, VERIFY_WRONG, VERIFY_SAMPLED, VERIFY_NO_REFERENCE };

enum run_state {
	RUN_NONE,    /* nothing run yet for this selection */
	RUN_RUNNING, /* worker is busy; `progress` moves; the previous record is still shown */
	RUN_DONE,
	RUN_FAILED, /* error holds why */
	RUN_CANCELLED,
};

/* What a panel shows beyond what every run brings: bits of view_desc.needs. */
enum panel_needs {
	NEEDS_LADDER = 1, /* runs of the family's other variants */
	NEEDS_STALLS = 2, /* why warps waited: some passes more on a GPU */
	NEEDS_SWEEP = 4,  /* runs over two of the parameters */
	NEEDS_DATA = 8,   /* what the run left in its buffers */
};

/* What the person chose. */
struct selection {
	const struct kernel_desc *kernel;
	unsigned variant;
	int64_t params[KERNEL_MAX_PARAMS];
	const struct gpu_spec *gpu; /* interned (gpu.h); NULL = none chosen yet */
	char backend[16];           /* "emu", "cuda" */
	uint64_t seed;
};

/* The outcome of one run. Owned; record_free(). */
struct run_record {
	struct selection sel;
	struct launch_plan plan;
	struct kernel_cost cost;
	struct occ_input occ_in;
	struct occ_result occ;
	struct perf_result perf;
	struct metric_set metrics;
	enum verify_state verify;
	struct check_result check;
	char verify_text[200]; /* "exact", "max rel. error 1.2e-7 of 1e-5", the first difference */
	char module_key[33], compiler[32];
	unsigned spill_bytes;
	struct run_result run;     /* what the back end told; its spans: none = not measured */
	struct code_listing *code; /* its machine code; NULL = nobody has looked at it yet */
	struct buffer_looks *data; /* what its buffers held behind it; NULL = nobody has looked */
	/* what surrounds the kernel: the timeline, from `run.spans` where they show every operation,
	 * else modelled; NULL = kernel time unknown */
	struct stream_program *program;
	struct stream_outcome *timeline;
	struct stream_init init; /* valid with the timeline: what happened once, before it */
};

/* What came of one claim of a step. */
struct tour_outcome {
	bool holds;
	double is;      /* what the left side came to; NAN = words, or not known */
	char found[96]; /* "" = holds; else what came instead, or, where it is said to hold, why it
	                 * cannot be held against this GPU */
};

/* Where in a preset the person is. */
struct session_tour {
	const struct preset *preset; /* NULL = none is being walked */
	char name[48];               /* its name; in a session just read, of the preset to load */
	unsigned step;
	bool judged;   /* the step's own run is in and was held against `expect` */
	bool off_path; /* the person changed something since the step was taken */
	unsigned n;    /* claims judged: preset_claims() */
	struct tour_outcome outcomes[PRESET_MAX_CLAIMS];
	bool revealed; /* a mystery's answer is shown */
};

/* Where the person is inside the focused view; what a row is, the view says. Plain data rather
 * than a view's own memory, so that a snapshot shows the screen again and a panel is drawn from
 * the session alone. The other views show their own start. */
struct view_cursor {
	unsigned row;        /* focused row */
	bool placed;         /* by the person; else it follows the view's start when a run ends */
	bool detail;         /* Enter: detail of the focused row */
	unsigned detail_row; /* focused row inside the detail */
	unsigned zoom;       /* a time axis shows 1/2^zoom of the whole, at most VIEW_ZOOM_MAX */
	unsigned pan;        /* from so many quarters of that window on */
};
#define VIEW_ZOOM_MAX 12

/* Of a session that was read from a snapshot; "" = the snapshot does not say. */
struct session_written {
	char by[160];    /* "alice@laptop" */
	char at[24];     /* "2026-11-22T20:41:07Z" */
	char tool[32];   /* version of the program */
	char digest[72]; /* "sha256:" and 64 digits, as the snapshot has it */
	bool changed;    /* it is not the digest of what was read */
};

struct session {
	struct selection sel;
	const char *source; /* text of the kernel's file */
	/* instant: recomputed by every change, before anything runs */
	bool plan_ok;
	struct launch_plan plan; /* valid if plan_ok */
	struct err plan_err;     /* else why this launch is refused */
	bool usage_known;        /* registers etc. known for this selection */
	struct occ_input occ_in;
	bool occ_ok;
	struct occ_result occ;
	unsigned spill_bytes;
	/* occupancy for every block size 32, 64 ... 1024 with this register count; 0 = cannot launch */
	struct {
		unsigned block, blocks_per_sm;
		double pct;
	} sweep[32];
	/* last finished run and the one before, for deltas; NULL = none */
	struct run_record *now, *before;
	enum run_state state;
	double progress;  /* 0..1 while RUN_RUNNING */
	struct pace pace; /* of its blocks, or of thousandths: pace_of_blocks */
	bool pace_of_blocks;
	struct err run_err;        /* RUN_FAILED */
	bool stale;                /* `now` is for an older selection */
	bool stuck_compile;        /* waiting for the compiler */
	const char *view;          /* name of the focused view */
	unsigned param;            /* focused parameter index */
	struct view_cursor cursor; /* inside the focused view */
	struct session_tour tour;
	struct ladder *ladder;     /* fits `sel`; NULL = nobody has looked at it yet */
	struct sweep_map *map;     /* around `sel`; NULL = nobody has looked at it yet */
	unsigned map_pair;         /* the pair of parameters that it is to be of */
	struct run_brief *history; /* every run of this session, the newest last */
	unsigned n_history;
	struct run_brief *pinned; /* the run that all figures are held against; NULL = the one before */
	struct run_brief *reference_run; /* `now` as recorded on another machine; NULL = no recording */
	bool reference_run_earlier;      /* recorded with another text of the kernel's file */
	bool reference_run_hidden;       /* the person does not want to see it */
	struct session_program *program; /* a whole program is explored; NULL = a kernel is */
	struct session_written written;
	const char *opened;  /* the snapshot this session was read from; NULL = live */
	const char *opening; /* one that is being read and will take this session's place; or NULL */
};

/* The same run gives the same record. */
bool selection_equal(const struct selection *a, const struct selection *b);
/* Has the GPU the compute capability that the variant asks for? */
bool variant_runs_on(const struct variant_desc *v, const struct gpu_spec *g);
/* Parameters legal and the launch possible, also on the GPU, if one is chosen. */
bool selection_plan(const struct selection *sel, struct launch_plan *plan, struct err *err);

/*
 * The instant part of a session from its selection: plan or its refusal, occupancy, and the sweep.
 * @usage: registers, static shared bytes and barriers as the compiler reports them (the launch's
 * own fields are filled from the plan); NULL = not known yet.
 */
void session_instant(struct session *s, const struct occ_input *usage);
/* A launch's input to occupancy. */
void session_occ_input(const struct launch_plan *plan, const struct occ_input *usage,
                       struct occ_input *in);
/* Frees the record and everything it owns; NULL is fine. */
void record_free(struct run_record *r);

#endif
