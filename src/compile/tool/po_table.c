/*
 * The build's compiler of catalogues: gettext's .po files in, C tables for base/lang.c out.
 *
 *   po_table src/lang/zh_CN.po ... > lang_tables.c
 *
 * A program of our own and not msgfmt, so that a machine that builds needs no gettext. Uses libc
 * only: what it makes is part of base. Untranslated and fuzzy messages are left out; a translation
 * whose conversions are not those of the English ends the build with file and line.
 */
#include "base/lang_table.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_TEXT 20000
#define MAX_MESSAGES 20000

struct message {
	char *en, *said;
	size_t letters; /* and signs beyond ASCII, of the English outside of conversions */
	size_t prefix;  /* bytes before the first conversion; its length where there is none */
};

static struct message all[MAX_MESSAGES];
static size_t n_all;
static const char *file;
static unsigned line_number;

static _Noreturn void fail(const char *why)
{
	fprintf(stderr, "%s:%u: %s\n", file, line_number, why);
	exit(1);
}

static char *copied(const char *s)
{
	char *out = strdup(s);
	if (!out)
		fail("no memory");
	return out;
}

/* Appends what stands between the quotes of @line. */
static void quoted(const char *line, char *out)
{
	const char *s = strchr(line, '"');
	size_t n = strlen(out);
	if (!s)
		fail("a text in quotes is needed here");
	for (s++; *s && *s != '"'; s++) {
		char c = *s;
		if (c == '\\') {
			const char *const from = "nt\"\\", *at = *++s ? strchr(from, *s) : NULL;
			if (!at)
				fail("unknown escape");
			c = "\n\t\"\\"[at - from];
		}
		if (n + 2 > MAX_TEXT)
			fail("this text is too long");
		out[n++] = c;
	}
	out[n] = '\0';
	if (!*s)
		fail("the quote at the end is missing");
}

/* --- conversions --- */

/* The kinds of @s's conversions by argument, "ds"; '%' counts for nothing. */
static unsigned kinds(const char *s, char *out, unsigned most)
{
	struct lang_conv c;
	unsigned n = 0, last = 0;
	memset(out, 0, most);
	while (*s) {
		if (!lang_conv(&s, &c)) {
			s++;
			continue;
		}
		if (c.kind == '%')
			continue;
		const unsigned i = c.arg ? (unsigned)c.arg - 1 : n;
		n++;
		if (i >= most || (out[i] && out[i] != c.kind))
			fail("conversions: a wrong number, or two kinds for one value");
		out[i] = c.kind;
		last = i + 1 > last ? i + 1 : last;
	}
	return last;
}

static void check(const char *en, const char *said)
{
	char a[32], b[32];
	const unsigned n = kinds(en, a, sizeof a), m = kinds(said, b, sizeof b);
	if (n != m || memcmp(a, b, n) != 0)
		fail("the conversions of the translation are not those of the English");
}

static void measure(struct message *m)
{
	struct lang_conv c;
	bool plain = true;
	for (const char *s = m->en; *s;) {
		const char *at = s;
		if (lang_conv(&s, &c)) {
			if (plain)
				m->prefix = (size_t)(at - m->en);
			plain = false;
			continue;
		}
		m->letters += ((*s | 0x20) >= 'a' && (*s | 0x20) <= 'z') || (*s & 0xc0) == 0xc0;
		s++;
	}
	if (plain)
		m->prefix = strlen(m->en);
}

/* --- a file --- */

static void take(const char *en, const char *said, bool fuzzy)
{
	if (!*en || !*said || fuzzy || !strcmp(en, said))
		return;
	if (n_all == MAX_MESSAGES)
		fail("too many messages");
	check(en, said);
	all[n_all] = (struct message){ .en = copied(en), .said = copied(said) };
	measure(&all[n_all++]);
}

static void read_file(void)
{
	static char line[2 * MAX_TEXT], en[MAX_TEXT], said[MAX_TEXT];
	char *into = NULL;
	bool fuzzy = false, next_fuzzy = false;
	FILE *f = fopen(file, "r");
	line_number = 0;
	en[0] = said[0] = '\0';
	if (!f)
		fail("cannot be read");
	while (fgets(line, sizeof line, f)) {
		line_number++;
		if (line[0] == '#') {
			next_fuzzy |= line[1] == ',' && strstr(line, "fuzzy");
		} else if (!strncmp(line, "msgid ", 6)) {
			take(en, said, fuzzy);
			fuzzy = next_fuzzy;
			next_fuzzy = false;
			en[0] = said[0] = '\0';
			quoted(line, into = en);
		} else if (!strncmp(line, "msgstr ", 7)) {
			quoted(line, into = said);
		} else if (line[0] == '"' && into) {
			quoted(line, into);
		} else if (line[0] != '\n') {
			fail("neither a comment, msgid, msgstr nor a text in quotes");
		}
	}
	take(en, said, fuzzy);
	fclose(f);
}

/* --- tables --- */

static int by_english(const void *a, const void *b)
{
	return strcmp(((const struct message *)a)->en, ((const struct message *)b)->en);
}

static size_t patterns[MAX_MESSAGES], n_patterns;

static int prefixes(const struct message *a, const struct message *b)
{
	const size_t both = a->prefix < b->prefix ? a->prefix : b->prefix;
	const int order = memcmp(a->en, b->en, both);
	return order ? order : (a->prefix > b->prefix) - (a->prefix < b->prefix);
}

static int by_prefix(const void *pa, const void *pb)
{
	const struct message *a = &all[*(const size_t *)pa], *b = &all[*(const size_t *)pb];
	const int order = prefixes(a, b);
	if (order)
		return order;
	return a->letters != b->letters ? (a->letters > b->letters) - (a->letters < b->letters)
	                                : strcmp(a->en, b->en);
}

/* Enough words that a text which fits was most likely made of it. */
static bool is_pattern(const struct message *m)
{
	char k[32];
	return kinds(m->en, k, sizeof k) && m->letters >= (m->prefix ? 3 : 5);
}

/* The nearest pattern before the @i-th whose prefix its own begins with. */
static long next_of(size_t i)
{
	const struct message *m = &all[patterns[i]];
	for (size_t k = i; k-- > 0;) {
		const struct message *o = &all[patterns[k]];
		if (o->prefix <= m->prefix && !memcmp(o->en, m->en, o->prefix))
			return (long)k;
	}
	return -1;
}

static void print_text(const char *s)
{
	putchar('"');
	for (; *s; s++)
		if (*s == '\n')
			fputs("\\n", stdout);
		else if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if (*s == '?')
			fputs("\\?", stdout); /* no trigraphs */
		else
			putchar(*s);
	putchar('"');
}

static void print_tables(size_t language)
{
	qsort(all, n_all, sizeof *all, by_english);
	printf("static const struct lang_message messages_%zu[] = {\n", language);
	for (size_t i = 0; i < n_all; i++) {
		if (i && !strcmp(all[i].en, all[i - 1].en)) {
			fprintf(stderr, "%s: translated twice: %s\n", file, all[i].en);
			exit(1);
		}
		printf("\t{ ");
		print_text(all[i].en);
		printf(", ");
		print_text(all[i].said);
		printf(" },\n");
		if (is_pattern(&all[i]))
			patterns[n_patterns++] = i;
	}
	printf("\t{ 0 },\n};\n");
	qsort(patterns, n_patterns, sizeof *patterns, by_prefix);
	printf("static const struct lang_pattern patterns_%zu[] = {\n", language);
	for (size_t i = 0; i < n_patterns; i++)
		printf("\t{ %zu, %zu, %ld },\n", patterns[i], all[patterns[i]].prefix, next_of(i));
	printf("\t{ 0 },\n};\n");
}

int main(int argc, char **argv)
{
	static struct {
		size_t messages, patterns;
	} n[64];
	printf("/* Made by po_table from the catalogues in src/lang. */\n"
	       "#include \"base/lang_table.h\"\n\n");
	for (int i = 1; i < argc && i < 64; i++) {
		file = argv[i];
		n_all = n_patterns = 0;
		memset(all, 0, sizeof all);
		read_file();
		print_tables((size_t)i);
		n[i].messages = n_all;
		n[i].patterns = n_patterns;
	}
	printf("const struct lang_table lang_tables[] = {\n");
	for (int i = 1; i < argc && i < 64; i++) {
		const char *name = strrchr(argv[i], '/') ? strrchr(argv[i], '/') + 1 : argv[i];
		printf("\t{ \"%.*s\", messages_%d, %zu, patterns_%d, %zu },\n", (int)strcspn(name, "."),
		       name, i, n[i].messages, i, n[i].patterns);
	}
	printf("\t{ 0 },\n};\nconst size_t lang_tables_n = %d;\n", argc - 1);
	return fflush(stdout) || ferror(stdout);
}
