/* Errands: slow work that holds up nobody, whatever it does. */
#include "../unit.h"
#include "lab/errand.h"

#include <stdlib.h>
#include <time.h>

struct job {
	atomic_bool go;                 /* let it end */
	bool deaf;                      /* to being cancelled */
	atomic_bool *dropped, *stopped; /* what became of it */
};

static atomic_uint told;

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
}

static void work(void *ctx, const atomic_bool *cancel, atomic_uint *part)
{
	struct job *j = ctx;
	atomic_store(part, 400);
	while (!atomic_load(&j->go) && (j->deaf || !atomic_load(cancel)))
		nap();
	atomic_store(j->stopped, atomic_load(cancel));
}

static void drop(void *ctx)
{
	struct job *j = ctx;
	atomic_store(j->dropped, true);
	free(j);
}

static void tell(void *count)
{
	atomic_fetch_add((atomic_uint *)count, 1);
}

static struct job *job(bool deaf, atomic_bool *dropped, atomic_bool *stopped)
{
	struct job *j = calloc(1, sizeof *j);
	assert_non_null(j);
	j->deaf = deaf;
	j->dropped = dropped;
	j->stopped = stopped;
	return j;
}

static struct errand *begin(struct job *j, double limit_s)
{
	const struct errand_order order = { work, drop, j, limit_s, tell, &told };
	atomic_store(&told, 0);
	return errand_begin(&order);
}

static enum errand_end end_of(struct errand *e)
{
	for (int ms = 0; ms < 20000 && errand_state(e) == ERRAND_UNDER_WAY; ms += 2)
		nap();
	return errand_state(e);
}

TEST(what_is_done_is_handed_back)
{
	atomic_bool dropped = false, stopped = false;
	struct job *j = job(false, &dropped, &stopped);
	struct errand *e = begin(j, 20);
	while (errand_part(e) < 0.4)
		nap();
	assert_int_equal(errand_state(e), ERRAND_UNDER_WAY);
	atomic_store(&j->go, true);
	assert_int_equal(end_of(e), ERRAND_DONE);
	assert_ptr_equal(errand_close(e), j);
	assert_false(dropped);
	assert_false(stopped);
	assert_true(atomic_load(&told) > 0);
	drop(j);
}

TEST(what_listens_ends_when_cancelled)
{
	atomic_bool dropped = false, stopped = false;
	struct job *j = job(false, &dropped, &stopped);
	struct errand *e = begin(j, 20);
	errand_cancel(e);
	assert_int_equal(end_of(e), ERRAND_DONE);
	assert_ptr_equal(errand_close(e), j);
	assert_true(stopped);
	drop(j);
}

/* Given up; it drops what it works on when it ends after all. */
static void given_up(double limit_s, bool cancel, enum errand_end how)
{
	atomic_bool dropped = false, stopped = false;
	struct job *j = job(true, &dropped, &stopped);
	struct errand *e = begin(j, limit_s);
	if (cancel)
		errand_cancel(e);
	assert_int_equal(end_of(e), how);
	assert_null(errand_close(e));
	assert_true(errands_left());
	assert_false(dropped);
	atomic_store(&j->go, true);
	for (int ms = 0; ms < 20000 && errands_left(); ms += 2)
		nap();
	assert_true(dropped);
	assert_false(errands_left());
}

TEST(what_is_deaf_is_left_to_itself)
{
	given_up(20, true, ERRAND_CANCELLED);
}

TEST(what_is_late_is_given_up)
{
	given_up(0.2, false, ERRAND_LATE);
}
