/*
 * A fuzzer of its own, for compilers without libFuzzer: main() of a fuzz target.
 *
 *   TARGET SECONDS SEED CORPUS...     files and folders; each file first as it is, then mixed
 *
 * Prints the number of executions. An input that crashes, or takes longer than HANG_S, is left in
 * ./crash-TARGET or ./hang-TARGET and ends the process with the signal, or with status 2.
 */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { HANG_S = 10, MOST_FILES = 4096, MOST_BYTES = 8192, MOST_STEPS = 6 };

static struct {
	unsigned n;
	uint8_t *bytes[MOST_FILES];
	size_t size[MOST_FILES];
} corpus;
static uint8_t now[MOST_BYTES];
static size_t now_size;
static uint64_t state;

static uint64_t below(uint64_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return n ? (state >> 33) % n : 0;
}

static void read_file(const char *path, size_t size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || corpus.n == MOST_FILES)
		return;
	uint8_t *bytes = malloc(size + 1);
	const ssize_t n = bytes ? read(fd, bytes, size) : -1;
	close(fd);
	if (n < 0) {
		free(bytes);
		return;
	}
	corpus.bytes[corpus.n] = bytes;
	corpus.size[corpus.n++] = (size_t)n;
}

static void read_all(const char *path)
{
	struct stat st;
	char below_it[4200];
	if (stat(path, &st) != 0)
		return;
	if (S_ISREG(st.st_mode)) {
		read_file(path, (size_t)st.st_size);
		return;
	}
	DIR *d = opendir(path);
	const struct dirent *e;
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.') {
			snprintf(below_it, sizeof below_it, "%s/%s", path, e->d_name);
			read_all(below_it);
		}
	if (d)
		closedir(d);
}

/* --- one input from others --- */

static void put(size_t at, const uint8_t *bytes, size_t n)
{
	if (now_size + n > MOST_BYTES)
		n = MOST_BYTES - now_size;
	memmove(now + at + n, now + at, now_size - at);
	memmove(now + at, bytes, n);
	now_size += n;
}

static void cut(size_t at, size_t n)
{
	n = n < now_size - at ? n : now_size - at;
	memmove(now + at, now + at + n, now_size - at - n);
	now_size -= n;
}

static void step(void)
{
	static const char *const odd[] = { "0",
		                               "-1",
		                               "4294967296",
		                               "18446744073709551615",
		                               "9223372036854775808",
		                               "1e999",
		                               "nan",
		                               "\n",
		                               "\"",
		                               "{",
		                               "}",
		                               "[",
		                               "]",
		                               "(",
		                               ")",
		                               "<",
		                               ">",
		                               "/*",
		                               "//",
		                               "\\",
		                               ":",
		                               ";",
		                               ",",
		                               "=",
		                               "%",
		                               "\xff\xff\xff\xff",
		                               "\x80",
		                               "@",
		                               "\t",
		                               "  ",
		                               "*/",
		                               "#" };
	const size_t at = below(now_size + 1);
	const char *const word = odd[below(sizeof odd / sizeof *odd)];
	const unsigned other = (unsigned)below(corpus.n);
	const size_t from = corpus.n ? below(corpus.size[other] + 1) : 0;
	uint8_t piece[64];
	size_t n = 1 + below(sizeof piece);
	switch (below(7)) {
	case 0:
		if (at < now_size)
			now[at] = (uint8_t)(now[at] ^ 1u << below(8));
		break;
	case 1:
		if (at < now_size)
			now[at] = (uint8_t)below(256);
		break;
	case 2: cut(at, n); break;
	case 3: put(at, (const uint8_t *)word, strlen(word)); break;
	case 4: /* something of the input once more, elsewhere */
		n = n < now_size - at ? n : now_size - at;
		memcpy(piece, now + at, n);
		put(below(now_size + 1), piece, n);
		break;
	case 5: /* something of another one */
		if (corpus.n) {
			n = n < corpus.size[other] - from ? n : corpus.size[other] - from;
			memcpy(piece, corpus.bytes[other] + from, n);
			put(at, piece, n);
		}
		break;
	default:
		if (at + 8 <= now_size) {
			const uint64_t v = (uint64_t)0 - below(3) + (below(2) ? (uint64_t)1 << below(64) : 0);
			memcpy(now + at, &v, (size_t)1 << below(4));
		}
	}
}

static void mix(void)
{
	const unsigned first = (unsigned)below(corpus.n);
	const size_t size = corpus.n ? corpus.size[first] : 0;
	/* of a long file a part: what is short is quick */
	const size_t from = size > MOST_BYTES / 2 ? below(size - MOST_BYTES / 2) * below(2) : 0;
	now_size = size - from < MOST_BYTES / 2 ? size - from : MOST_BYTES / 2;
	if (now_size)
		memcpy(now, corpus.bytes[first] + from, now_size);
	for (unsigned n = 1 + (unsigned)below(MOST_STEPS); n; n--)
		step();
}

/* --- what goes wrong --- */

static char crash_path[300], hang_path[300];

/* In a signal's handler: nothing that allocates or formats. */
static void keep(const char *path)
{
	static const char words[] = "the input is in ";
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return;
	if (write(fd, now, now_size) == (ssize_t)now_size && write(2, words, sizeof words - 1) > 0 &&
	    write(2, path, strlen(path)) > 0 && write(2, "\n", 1) != 1)
		_exit(2);
	close(fd);
}

static void crashed(int sig)
{
	keep(crash_path);
	signal(sig, SIG_DFL);
	raise(sig);
}

static void hung(int sig)
{
	(void)sig;
	keep(hang_path);
	_exit(2);
}

static unsigned long executions;

static void run(void)
{
	alarm(HANG_S);
	LLVMFuzzerTestOneInput(now, now_size);
	executions++;
}

int main(int argc, char **argv)
{
	static const int fatal[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP };
	if (argc < 3) {
		fprintf(stderr, "usage: %s SECONDS SEED CORPUS...\n", argv[0]);
		return 2;
	}
	const time_t end = time(NULL) + strtol(argv[1], NULL, 10);
	state = strtoull(argv[2], NULL, 10);
	snprintf(crash_path, sizeof crash_path, "crash-%s", program_invocation_short_name);
	snprintf(hang_path, sizeof hang_path, "hang-%s", program_invocation_short_name);
	for (int i = 3; i < argc; i++)
		read_all(argv[i]);
	for (unsigned i = 0; i < sizeof fatal / sizeof *fatal; i++)
		signal(fatal[i], crashed);
	signal(SIGALRM, hung);
	for (unsigned i = 0; i < corpus.n; i++) {
		now_size = corpus.size[i] < MOST_BYTES ? corpus.size[i] : MOST_BYTES;
		memcpy(now, corpus.bytes[i], now_size);
		run();
	}
	while (time(NULL) < end) {
		mix();
		run();
	}
	alarm(0);
	printf("%lu executions\n", executions);
	for (unsigned i = 0; i < corpus.n; i++)
		free(corpus.bytes[i]);
	return 0;
}
