/*
 * A switch with many cases, compiled by NVRTC to a table of branch targets (brx.idx), which it
 * makes from --jump-table-density on. Every thread must get what the host's own switch gives,
 * whether lanes of a warp agree or not.
 */
#include "emu_fixture.h"

#include "compile/rtc.h"

static const char source[] =
	"extern \"C\" __global__ void choose(const unsigned *in, unsigned *out, unsigned step)\n"
	"{\n"
	"	const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
	"	unsigned x = in[i];\n"
	"	for (unsigned k = 0; k < 3; k++)\n"
	"		switch ((x + i / step) % 11) {\n"
	"		case 0: x = x * 3 + in[(i + 1) % 256]; break;\n"
	"		case 1: x ^= in[(i + 7) % 256]; break;\n"
	"		case 2: out[256 + i] = x; x += 5; break;\n"
	"		case 3: x -= in[x % 256]; /* falls through */\n"
	"		case 4: x = (x << 3) | (x >> 29); break;\n"
	"		case 5: x = __popc(x); break;\n"
	"		case 6: if (x & 1) x /= 3; else x = ~x; break;\n"
	"		case 7: out[256 + i] += k; x++; break;\n"
	"		case 8: x = x % 1000 + in[(i * 5) % 256]; break;\n"
	"		default: x += 77 * k; break;\n"
	"		}\n"
	"	out[i] = x;\n"
	"}\n";

static void on_the_host(const uint32_t *in, uint32_t *out, uint32_t step)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t x = in[i];
		for (uint32_t k = 0; k < 3; k++)
			switch ((x + i / step) % 11) {
			case 0: x = x * 3 + in[(i + 1) % 256]; break;
			case 1: x ^= in[(i + 7) % 256]; break;
			case 2:
				out[256 + i] = x;
				x += 5;
				break;
			case 3: x -= in[x % 256]; /* fall through */
			case 4: x = (x << 3) | (x >> 29); break;
			case 5: x = (uint32_t)__builtin_popcount(x); break;
			case 6: x = x & 1 ? x / 3 : ~x; break;
			case 7:
				out[256 + i] += k;
				x++;
				break;
			case 8: x = x % 1000 + in[(i * 5) % 256]; break;
			default: x += 77 * k; break;
			}
		out[i] = x;
	}
}

/* The kernel's PTX; skips where NVRTC is missing or older than the option. Caller frees. */
static char *compiled(void)
{
	static const char *const options[] = { "--gpu-architecture=compute_90",
		                                   "--jump-table-density=10" };
	struct rtc_output out;
	struct err err = { 0 };
	if (!rtc_load(&err) || !rtc_compile("switch.cu", source, options, 2, &out, &err)) {
		print_message("no NVRTC here that makes branch tables: %s\n", err.msg);
		skip();
	}
	if (!out.ok)
		fail_msg("%s", out.log);
	char *ptx = mem_strdup(out.ptx);
	rtc_free(&out);
	return ptx;
}

TEST(same_choice_as_the_host)
{
	char *ptx = compiled();
	assert_non_null(strstr(ptx, "brx.idx"));
	for (size_t w = 0; w < ARRAY_LEN(emu_ways); w++)
		for (uint32_t step = 1; step <= 256; step *= 16) {
			struct emu_case c = { .ptx = mem_strdup(ptx) };
			uint32_t want[512] = { 0 };
			emu_launch(&c, "choose", (struct dim3u){ 4, 1, 1 }, (struct dim3u){ 64, 1, 1 });
			uint32_t *in = emu_buffer(&c, "in", ELEM_U32, BUF_IN, 256);
			uint32_t *out = emu_buffer(&c, "out", ELEM_U32, BUF_INOUT, 512);
			emu_arg(&c, (int32_t)step);
			for (uint32_t i = 0; i < 256; i++) /* lanes agree where step is large */
				in[i] = step == 256 ? 19 : i * 2654435761u >> 7;
			on_the_host(in, want, step);
			if (!emu_run_way(&c, &emu_ways[w]))
				fail_msg("%s: %s", emu_ways[w].name, c.err.msg);
			assert_memory_equal(out, want, sizeof want);
			emu_case_free(&c);
		}
	free(ptx);
}
