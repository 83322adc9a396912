/*
 * Memory instructions: how the address looks decides which handler may carry them out.
 *
 * A scalar address, or scalar + pattern, lets a full warp be checked, counted and done without
 * looking at 32 addresses: wavefronts do not depend on the scalar, sectors and lines only on its
 * last seven bits. Everything else goes through vm/access.c.
 */
#include "emu/codegen/emit.h"
#include "emu/count/count.h"
#include "emu/lane/lane.h"

static struct mem_addr address_of(struct emit *e, const struct xsrc *s, int64_t offset,
                                  unsigned temp)
{
	const struct ir *ir = &e->im->ir;
	const struct affine form = emit_form(e, s);
	struct mem_addr a = { .offset = offset, .wide = true };
	(void)temp;
	if (s->kind == S_REG)
		a.wide = ir->regs[s->reg].bytes == 8;
	if (form.cls == AFFINE_LANES) {
		a.kind = a.wide ? ADDR_LANES64 : ADDR_LANES32;
		a.slot = e->p->reg_slot[s->reg];
		return a;
	}
	a.kind = form.pattern ? ADDR_PATTERN : ADDR_UNIFORM;
	a.pattern_index = form.pattern;
	a.slot = emit_scalar(e, s, a.wide ? 8 : 4);
	return a;
}

/* The pattern of a full-warp handler: lane offsets from the lowest one. */
static bool lane_offsets(const struct emit *e, const struct memop *m, uint64_t offset[32],
                         struct pattern *p)
{
	*p = e->p->forms.patterns[m->addr.pattern_index];
	for (unsigned i = 0; i < 32; i++) {
		offset[i] = (uint64_t)(p->lane[i] - p->min);
		if (offset[i] % m->access)
			return false;
	}
	return true;
}

/* Wavefronts wherever the lowest address lies; false when it matters (lanes of less than a word).
 */
static bool count_shared(struct memop *m, const uint64_t offset[32])
{
	for (unsigned at = 0; at < 4; at += m->access) {
		uint64_t a[32];
		for (unsigned i = 0; i < 32; i++)
			a[i] = at + offset[i];
		const struct shared_probe s =
			probe_shared(a, 0xffffffffu, m->access, LAYOUT_ANY, m->x->kind == X_ST);
		if (at && s.wavefronts != m->wavefronts_full)
			return false;
		m->wavefronts_full = s.wavefronts;
		m->ideal_full = s.ideal;
	}
	return true;
}

static bool count_full(struct memop *m, const uint64_t offset[32])
{
	if (m->x->space == SPACE_SHARED)
		return count_shared(m, offset);
	for (unsigned at = 0; at < 128; at += m->access) {
		uint64_t a[32];
		struct global_probe g;
		for (unsigned i = 0; i < 32; i++)
			a[i] = at + offset[i];
		probe_global(a, 0xffffffffu, m->access, LAYOUT_ANY, &g);
		m->lines_at[at] = (uint16_t)(g.sectors | g.lines << 8);
		m->bytes_full = g.bytes;
	}
	/* the weakest alignment at which the counts are always the same */
	for (m->usual = m->align_mask; m->usual < 127; m->usual = 2 * m->usual + 1) {
		bool same = true;
		for (unsigned at = 0; at < 128; at += m->usual + 1)
			same &= m->lines_at[at] == m->lines_at[0];
		if (same)
			break;
	}
	m->wavefronts_full = probe_shared(offset, 0xffffffffu, m->access, LAYOUT_ANY, false).wavefronts;
	m->sectors_full = m->lines_at[0] & 0xff;
	m->lines_full = m->lines_at[0] >> 8;
	return true;
}

/* What each half warp reads: 16 elements of @bytes in a row, one of them, or others, and from where
 * on; false: from further than that. */
static bool find_halves(const struct pattern *p, struct memop *m, int bytes)
{
	bool unit = true, splat = true;
	m->half_layout = HALF_OTHER;
	for (unsigned h = 0; h < 2; h++) {
		const int64_t *lane = p->lane + 16 * h;
		int64_t low = lane[0], high = low;
		for (int i = 0; i < 16; i++) {
			low = lane[i] < low ? lane[i] : low;
			high = lane[i] > high ? lane[i] : high;
			unit &= lane[i] == lane[0] + bytes * i;
			splat &= lane[i] == lane[0];
		}
		if (high - low > 15 * bytes)
			return false;
		m->half[h] = low - p->min;
	}
	m->half_layout = unit ? HALF_UNIT : splat ? HALF_SPLAT : HALF_OTHER;
	return true;
}

/* Words of each half warp fit into one vector of 16. */
static bool halves_fit(const struct pattern *p, struct memop *m)
{
	if (!find_halves(p, m, 4))
		return false;
	for (unsigned i = 0; i < 32; i++)
		m->index[i] = (int32_t)((p->lane[i] - p->min - m->half[i / 16]) / 4);
	return true;
}

static enum mem_type element_type(const struct memop *m)
{
	switch (m->bytes) {
	case 1: return m->sign ? MEM_S8 : MEM_U8;
	case 2: return m->sign ? MEM_S16 : MEM_U16;
	case 4: return MEM_B32;
	default: return MEM_B64;
	}
}

/* One address for all: costs one sector. */
static const struct handler *uniform_handler(struct emit *e, struct memop *m, enum mem_place at)
{
	const struct mem_handlers *h = e->h->mem;
	const enum mem_type t = element_type(m);
	if (m->x->kind == X_ST || !m->d_scalar)
		return NULL;
	static const uint64_t same[32];
	const struct shared_probe probe = probe_shared(same, 0xffffffffu, m->access, LAYOUT_ANY, false);
	m->bytes_full = m->access;
	m->wavefronts_full =
		probe.wavefronts; /* one for each half of the warp where lanes ask 16 bytes */
	m->ideal_full = probe.ideal;
	m->sectors_full = m->lines_full = 1;
	m->usual = m->align_mask;
	m->half_layout = HALF_SPLAT;
	if (m->vec > 1 || m->d[0] < 0)
		return &e->h->wide->ld_uniform[at][t];
	return t >= MEM_S8 ? &h->ld_uniform_signed[at][t - MEM_S8] : &h->ld_uniform[at][t];
}

/* Words, one per lane: the cases that have a handler of their own. */
static const struct handler *word_handler(struct emit *e, struct memop *m, enum mem_place at,
                                          const struct pattern *p)
{
	const struct mem_handlers *h = e->h->mem;
	const bool load = m->x->kind == X_LD, halves = halves_fit(p, m);
	bool unit = true;
	for (unsigned i = 0; i < 32; i++)
		unit &= p->lane[i] == 4 * (int64_t)i;
	if (load && !unit && halves && (m->span > 128 || m->half_layout != HALF_OTHER))
		return &h->ld_halves[m->half_layout][at]; /* index counts within each half */
	for (unsigned i = 0; i < 32; i++)
		m->index[i] = (int32_t)((p->lane[i] - p->min) / 4);
	if (unit)
		return load ? &h->ld_unit[at] : &h->st_unit[at];
	if (!load)
		return &h->st_pattern[at];
	return m->span <= 128 ? &h->ld_window[at] : &h->ld_pattern[at];
}

static enum mem_place place_of(const struct memop *m)
{
	if (m->x->space != SPACE_SHARED)
		return AT_GLOBAL;
	return m->addr.wide ? AT_SHARED64 : AT_SHARED32;
}

/* May an access be done for a full warp at once, as far as its kind says? */
static bool has_fast_kind(const struct emit *e, const struct memop *m)
{
	const struct xop *x = m->x;
	if (e->p->kind == PROGRAM_REFERENCE || m->whole || (x->kind != X_LD && x->kind != X_ST) ||
	    x->precedes_swap)
		return false;
	if (e->p->kind == PROGRAM_CHECKED &&
	    (x->strong || x->hands_on || x->sem > SEM_WEAK || x->polls))
		return false; /* what threads hand on is looked at with care */
	return x->space == SPACE_SHARED || (x->space == SPACE_GLOBAL && m->addr.wide);
}

static uint8_t lanes_in_a_row(const uint64_t offset[32], unsigned bytes)
{
	for (uint8_t row = 32; row >= 8; row /= 2) {
		bool all = true;
		for (unsigned i = 0; i < 32; i++)
			all &= offset[i] == offset[i & ~(row - 1u)] + (uint64_t)bytes * (i & (row - 1u));
		if (all)
			return row;
	}
	return 1;
}

/* How the lanes lie wherever the access goes. */
static void set_arrangement(const struct emit *e, struct memop *m)
{
	uint64_t offset[32];
	struct pattern p;
	m->row = 1;
	if (m->addr.kind == ADDR_PATTERN && lane_offsets(e, m, offset, &p))
		m->row = lanes_in_a_row(offset, m->access);
}

/* Bytes that the host may pick at once. */
static const struct byte_places *find_places(struct emit *e, const struct memop *m)
{
#if defined(__x86_64__)
	if (m->access != 1 || m->span > 128 || !lane_wide() || !__builtin_cpu_supports("avx512vbmi"))
		return NULL;
	struct byte_places *p = image_pool(e->im, sizeof *p);
	for (unsigned i = 0; i < 32; i++) {
		p->lane[m->index[i]] = (uint8_t)i;
		p->any[m->index[i] / 64] |= (uint64_t)1 << (m->index[i] % 64);
	}
	return p;
#else
	(void)e, (void)m;
	return NULL;
#endif
}

/* The handler for full warps, or NULL when the access must be looked at lane by lane. */
static const struct handler *fast_handler(struct emit *e, struct memop *m)
{
	const struct xop *x = m->x;
	const bool shared = x->space == SPACE_SHARED;
	const enum mem_place at = place_of(m);
	uint64_t offset[32];
	struct pattern p;
	if (!has_fast_kind(e, m))
		return NULL;
	if (m->addr.kind > ADDR_PATTERN || !lane_offsets(e, m, offset, &p))
		return NULL;
	if (p.max - p.min > INT32_MAX)
		return NULL;
	m->low = m->addr.offset + p.min;
	m->span = (uint64_t)(p.max - p.min) + m->access;
	m->align_mask = m->access - 1u;
	if (shared && m->span > e->shared_bytes)
		return NULL; /* never fits */
	m->last_low = shared ? e->shared_bytes - m->span : 0;
	if (m->addr.kind == ADDR_UNIFORM)
		return uniform_handler(e, m, at);
	if (m->d_scalar && x->kind == X_LD)
		return NULL;
	if (!count_full(m, offset))
		return NULL;
	if (m->access == 4 && m->vec == 1 && (x->kind == X_ST || m->d[0] >= 0))
		return word_handler(e, m, at, &p);
	for (unsigned i = 0; i < 32; i++)
		m->index[i] = (int32_t)(offset[i] / m->access);
	if (m->bytes == 8 && m->vec == 1)
		find_halves(&p, m, 8);
	m->places = find_places(e, m);
	const enum mem_type t = element_type(m);
	if (x->kind == X_ST)
		return &e->h->wide->st[at][t >= MEM_S8 ? t - MEM_S8 : t];
	return &e->h->wide->ld[at][t];
}

static void set_destinations(struct emit *e, const struct xop *x, struct memop *m)
{
	bool scalar = x->kind == X_LD && x->n_d > 0;
	for (unsigned i = 0; i < x->n_d; i++)
		scalar &= x->d[i] < 0 || e->p->forms.reg[x->d[i]].cls == AFFINE_SCALAR;
	m->d_scalar = scalar;
	for (unsigned i = 0; i < X_MAX_VEC; i++)
		m->d[i] = -1;
	for (unsigned i = 0; i < x->n_d; i++)
		if (x->d[i] >= 0)
			m->d[i] = (int32_t)e->p->reg_slot[x->d[i]];
}

static void set_type(const struct emit *e, struct memop *m, const struct xop *x, unsigned id)
{
	m->x = x;
	m->id = id;
	m->begun = e->im->begun[id];
	m->bytes = x->bytes;
	m->vec = x->vec;
	m->access = (uint8_t)(x->bytes * x->vec);
	m->sign = x->type == PTX_S8 || x->type == PTX_S16;
	m->whole = m->access == 16 && x->space != SPACE_LOCAL && (x->strong || x->kind == X_ATOM) &&
	           x->kind != X_ASYNC;
}

/* The operands of an access, or of what comes in front of it. */
static void set_operands(struct uop *u, const struct memop *m)
{
	u->a = m->addr.slot;
	u->d = m->d[0] >= 0 ? (uint32_t)m->d[0] : 0;
	u->b = m->s[0];
	u->y = m->id;
	u->x.i = m->low;
	u->c = (uint32_t)m->last_low;
}

static void emit_watch(struct emit *e, struct memop *m)
{
	const struct pattern *p = &e->p->forms.patterns[m->addr.pattern_index];
	struct lane_pieces *pieces = image_pool(e->im, sizeof *pieces);
	uint64_t offset[32];
	for (unsigned i = 0; i < 32; i++)
		offset[i] = (uint64_t)(p->lane[i] - p->min);
	lane_pieces_find(offset, UINT32_MAX, m->access, 0, pieces);
	m->pieces = pieces;
	set_operands(emit_uop(e, &e->h->watch[place_of(m)]), m);
}

void emit_memory(struct emit *e, const struct xop *x)
{
	struct memop *m = &e->p->mem[x->mem];
	set_type(e, m, x, (unsigned)x->mem);
	m->addr = address_of(e, &x->s[0], x->offset, 0);
	set_arrangement(e, m);
	set_destinations(e, x, m);
	if (x->kind == X_ASYNC) { /* s[1] source address, s[2] bytes used, s[3] source offset */
		m->from = address_of(e, &x->s[1], (int64_t)x->s[3].value, 1);
		m->s[0] = emit_lanes(e, &x->s[2], 4, 0);
		set_type(e, m + 1, x, (unsigned)x->mem + 1);
	} else {
		for (unsigned i = 1; i < x->n_s; i++)
			m->s[i - 1] = emit_lanes(e, &x->s[i], m->bytes == 8 ? 8 : 4, i);
	}
	/* what warps hand on to each other is looked at with care (access_note_turns) */
	const bool handed = e->im->ir.waits && (x->waits || (x->kind == X_ST && x->strong));
	const struct handler *h = handed ? NULL : fast_handler(e, m);
	m->full_probe = h != NULL;
	if (h && e->p->kind == PROGRAM_CHECKED)
		emit_watch(e, m);
	set_operands(emit_uop(e, h ? h : e->h->access), m);
	if (x->looks)
		emit_uop(e, &e->h->warp->look);
}

void memory_finish(struct emit *e, struct memop *m)
{
	if (!m->x)
		return;
	m->addr.pattern = &e->p->forms.patterns[m->addr.pattern_index];
	m->from.pattern = &e->p->forms.patterns[m->from.pattern_index];
}
