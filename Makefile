# pmpp-explore. `make run` and `make test` set everything up by themselves; `make list` explains.
# All output goes to build/ ($(B)); user's CFLAGS and LDFLAGS are added after ours.

# All cores unless -j says otherwise (a -j on the command line wins). Messages of parallel
# compilations are kept apart, except where a program wants the terminal.
MAKEFLAGS += --no-builtin-rules
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif
ON_TERMINAL := run test units seeds bench fuzz fuzz-smoke storm storm-run asan-check tsan-check check-bare
ifeq ($(filter $(ON_TERMINAL),$(MAKECMDGOALS)),)
MAKEFLAGS += --output-sync=target
endif
ifneq ($(filter clean,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif
.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:
.DEFAULT_GOAL := all

CC      ?= cc
ifeq ($(origin CC),default)
CC      := gcc
endif
V       ?= 0
Q       := $(if $(filter 1,$(V)),,@)
say      = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' '$(1)' '$(2)';)

# SANITIZE=address,undefined or thread builds beside the normal tree, in build/<name>.
SANITIZE ?=
comma   := ,
B       := build$(if $(SANITIZE),/$(subst $(comma),-,$(SANITIZE)))

# --- set-up: packages and CUDA, found or fetched once, remembered in build/setup.mk ---------------
# Anew when CUDA_HOME changed since, or when what was found is gone (tried once per run of make).
NO_SETUP := clean list help check-bare lang
ifneq ($(filter-out $(NO_SETUP),$(or $(MAKECMDGOALS),all)),)
include build/setup.mk
SETUP_STALE := $(if $(MAKE_RESTARTS),,$(if $(and $(SETUP_FROM),$(wildcard \
	$(CUDA_ROOT)/include/cuda_occupancy.h)),$(filter-out _$(SETUP_FROM),_$(CUDA_HOME)|$(PMPP_NO_SYSTEM_CUDA)),yes))
build/setup.mk: src/setup/setup.sh src/setup/wheels.sh src/setup/cuda-wheels.txt src/setup/cuda-headers.txt $(if $(SETUP_STALE),FORCE)
	@mkdir -p build
	@CC='$(CC)' sh src/setup/setup.sh $@
endif

# --- flags --------------------------------------------------------------------------------------
# A warning of a compiler that came after us must not stop a user: WERROR=1 is for developers and CI.
WERROR  ?=
# The sanitizers' own code makes gcc, not clang, warn about what is not there; handlers of the
# emulator, which then return to a loop, do not pass their parameters on.
WARN    := $(if $(SANITIZE),$(if $(findstring clang,$(CC)),,-w)) -Wall -Wextra -Wconversion -Wshadow -Wmissing-prototypes -Wstrict-prototypes \
	$(if $(SANITIZE),-Wno-unused-parameter) $(if $(filter 1,$(WERROR)),-Werror)
ALL_CFLAGS = -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -g -fPIC -fno-semantic-interposition -ffunction-sections -pthread $(WARN) -Isrc -I$(B)/gen \
	$(CUDA_CFLAGS) -fno-math-errno -ffp-contract=off $(SAN_FLAGS) $(CFLAGS)
ALL_LDFLAGS = -pthread $(SAN_FLAGS) $(LDFLAGS)
SAN_FLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)
# Libraries are linked statically where an archive exists, so that one binary can be carried.
PACKED_LIBS := -l:libzstd.a -l:liblz4.a
LIBS     = $(STATIC_LIBS) $(PACKED_LIBS) -ldl -lm
TEST_LIBS = -lcmocka

# The stamp changes, and with it every object, when compiler or flags change.
FLAGS_NOW = $(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS)$(addprefix _,$(filter-out -O3,$(SIMD_OPT)))

# --- what there is: one file = one thing ---------------------------------------------------------
KERNELS := $(sort $(basename $(notdir $(wildcard kernels/*.cu))))
VIEWS   := $(sort $(basename $(notdir $(wildcard views/*.c))))
GPUS    := $(sort $(basename $(notdir $(wildcard presets/gpus/*.yaml))))
PRESETS := $(sort $(basename $(notdir $(wildcard presets/*.yaml))))
VERBS   := $(sort $(patsubst src/cli/verb_%.c,%,$(wildcard src/cli/verb_*.c)))
BACKENDS := $(sort $(shell sed -n 's/^const struct backend_ops backend_\([a-z0-9]*\) = {.*/\1/p' src/*/backend_*.c src/*/*_backend.c))
# (clang says so when a lane loop is no vector loop, as those that call libm)
SIMD_LEVELS := sse avx2 avx512
SIMD_OPT    ?= -O3
# Nobody looks at floating-point exceptions: without this a lane that is off is branched around.
SIMD_ALL    := $(SIMD_OPT) -Wno-pass-failed -fno-trapping-math
SIMD_sse    := $(SIMD_ALL) -Wno-psabi
SIMD_avx2   := $(SIMD_ALL) -Wno-psabi -mavx2 -mfma -mbmi2
SIMD_avx512 := $(SIMD_ALL) -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512cd -mfma -mbmi2 -mprefer-vector-width=512

# A folder of src/ is a layer and an archive: src/README.md says what each is for.
obj      = $(patsubst %.c,$(B)/obj/%.o,$(1))
SRC     := $(shell find src -name '*.c' | LC_ALL=C sort)
LAYERS  := $(sort $(filter-out main.c setup lang,$(notdir $(wildcard src/*))))
SIMD_C  := $(filter src/emu/vm/simd/%,$(SRC))
SIMD_O  := $(foreach s,$(SIMD_LEVELS),$(SIMD_C:%.c=$(B)/obj/%.$(s).o))
layer_objects = $(call obj,$(filter-out $(SIMD_C) src/compile/tool/% src/runtime/guest/% src/runtime/inject/%,$(filter src/$(1)/%,$(SRC))))

# --- the program ---------------------------------------------------------------------------------
## all: build build/pmpp-explore
all: $(B)/pmpp-explore $(if $(SANITIZE),,compile_commands.json)

LIB_NAMES := $(LAYERS) kernels views
ARCHIVES  := $(LIB_NAMES:%=$(B)/lib/%.a)
$(foreach l,$(LAYERS),$(eval $(B)/lib/$(l).a: $(call layer_objects,$(l))))
$(B)/lib/emu.a: $(SIMD_O)
$(B)/lib/base.a: $(B)/obj/gen/assets.o $(B)/obj/gen/lang_tables.o
$(B)/lib/views.a: $(VIEWS:%=$(B)/obj/views/%.o)
$(B)/lib/kernels.a: $(KERNELS:%=$(B)/obj/kernels/%.o)
$(B)/lib/unit.a: $(call obj,$(wildcard tests/unit/*.c))
$(B)/lib/%.a:
	@mkdir -p $(@D); rm -f $@
	$(call say,AR,$@)$(AR) qcs $@ $^

LIBRARIES_IN := $(B)/obj/gen/guest.o $(B)/obj/gen/inject.o
$(B)/pmpp-explore: $(B)/obj/src/main.o $(B)/obj/gen/cache.o $(LIBRARIES_IN) $(ARCHIVES) src/userkernel/kernel_api.list
	$(call say,LINK,$@)$(CC) $(ALL_LDFLAGS) -Wl,--dynamic-list=src/userkernel/kernel_api.list -o $@ $(B)/obj/src/main.o $(B)/obj/gen/cache.o $(LIBRARIES_IN) -Wl,--start-group $(ARCHIVES) -Wl,--end-group $(LIBS)

# The CUDA runtime on the emulator, for whole programs: a library that is built into the program.
GUEST   := src/runtime/guest
GUEST_O := $(call obj,$(filter $(GUEST)/%,$(SRC))) $(B)/obj/gen/guest_entries.o $(B)/obj/gen/driver_aliases.o
$(GUEST_O): $(B)/gen/guest_names.h
$(B)/gen/guest_names.h: $(GUEST)/names.sh $(GUEST)/api.def
	@mkdir -p $(@D)
	$(Q)sh $(GUEST)/names.sh header $(GUEST)/api.def > $@
$(B)/obj/gen/guest_entries.o: $(GUEST)/names.sh $(GUEST)/api.def
	@mkdir -p $(@D) $(B)/gen
	$(Q)sh $(GUEST)/names.sh entries $(GUEST)/api.def > $(B)/gen/guest_entries.S
	$(Q)$(CC) -c -o $@ $(B)/gen/guest_entries.S
$(B)/obj/gen/driver_aliases.o: $(GUEST)/names.sh $(GUEST)/driver/driver.def
	@mkdir -p $(@D) $(B)/gen
	$(Q)sh $(GUEST)/names.sh aliases $(GUEST)/driver/driver.def > $(B)/gen/driver_aliases.S
	$(Q)$(CC) -c -o $@ $(B)/gen/driver_aliases.S
GUEST_NEEDS := $(addprefix $(B)/lib/,runtime.a emu.a ptx.a sass.a timemodel.a model.a base.a)
$(B)/guest/libcudart.so.13: $(GUEST_O) $(GUEST_NEEDS) $(GUEST)/guest.map
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(ALL_LDFLAGS) -shared -static-libgcc -Wl,-soname,libcudart.so.13 -Wl,-Bsymbolic -Wl,--gc-sections \
		-Wl,--version-script=$(GUEST)/guest.map -o $@ $(GUEST_O) -Wl,--start-group $(GUEST_NEEDS) -Wl,--end-group $(PACKED_LIBS) -ldl -lm
# What NVIDIA's driver loads into a program on a real GPU: as the runtime, built into the program.
INJECTED := src/runtime/inject
INJECTED_O := $(call obj,$(filter $(INJECTED)/%,$(SRC)))
INJECTED_NEEDS := $(addprefix $(B)/lib/,runtime.a cuda.a compile.a model.a base.a)
$(B)/guest/libpmpp-inject.so: $(INJECTED_O) $(INJECTED_NEEDS) $(INJECTED)/inject.map
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(ALL_LDFLAGS) -shared -static-libgcc -Wl,-soname,libpmpp-inject.so -Wl,-Bsymbolic -Wl,--gc-sections \
		-Wl,--version-script=$(INJECTED)/inject.map -o $@ $(INJECTED_O) -Wl,--start-group $(INJECTED_NEEDS) -Wl,--end-group -ldl -lm
# asset_NAME is the library's bytes.
embed = strip --strip-debug -o $(B)/guest/$(1).stripped $< && \
	printf '.section .rodata\n.balign 16\n.globl asset_$(1)\nasset_$(1): .incbin "%s"\n.globl asset_$(1)_end\nasset_$(1)_end: .byte 0\n.section .note.GNU-stack,"",%%progbits\n' \
		$(B)/guest/$(1).stripped > $(B)/gen/$(1).S && $(CC) -c -o $@ $(B)/gen/$(1).S
$(B)/obj/gen/guest.o: $(B)/guest/libcudart.so.13
	@mkdir -p $(@D)
	$(Q)$(call embed,guest)
$(B)/obj/gen/inject.o: $(B)/guest/libpmpp-inject.so
	@mkdir -p $(@D)
	$(Q)$(call embed,inject)

# Every default kernel, compiled for every architecture of the sheets: runs with no toolkit.
# What was compiled before is kept in build/modules, so only changed sources cost time.
$(B)/prefill: $(B)/obj/src/compile/tool/prefill.o $(addprefix $(B)/lib/,compile.a kernels.a model.a base.a)
	$(call say,LINK,$@)$(CC) $(ALL_LDFLAGS) -o $@ $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS)
$(B)/gen/cache.stamp: $(B)/prefill
	@mkdir -p $(@D)
	$(call say,NVRTC,$(B)/gen/cache.bin)CUDA_HOME=$(abspath $(CUDA_ROOT)) ASAN_OPTIONS=detect_leaks=0 \
		$(B)/prefill $(B)/gen/cache.tmp $(abspath build/modules)
	@cd $(B)/gen && { cmp -s cache.tmp cache.bin && rm cache.tmp || mv cache.tmp cache.bin; } && touch cache.stamp
$(B)/gen/cache.bin: $(B)/gen/cache.stamp ;
$(B)/obj/gen/cache.o: $(B)/gen/cache.bin
	@mkdir -p $(@D)
	$(Q)printf '.section .rodata\n.balign 16\n.globl asset_cache\nasset_cache: .incbin "%s"\n.globl asset_cache_end\nasset_cache_end: .byte 0\n.section .note.GNU-stack,"",%%progbits\n' $< > $(B)/gen/cache.S
	$(Q)$(CC) -c -o $@ $(B)/gen/cache.S

# --- rules ---------------------------------------------------------------------------------------
$(B)/obj/src/emu/vm/simd/%.sse.o: src/emu/vm/simd/%.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC,$< (sse))$(CC) $(ALL_CFLAGS) $(SIMD_sse) -DEMU_ISA=sse -MMD -MP -c -o $@ $<
$(B)/obj/src/emu/vm/simd/%.avx2.o: src/emu/vm/simd/%.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC,$< (avx2))$(CC) $(ALL_CFLAGS) $(SIMD_avx2) -DEMU_ISA=avx2 -MMD -MP -c -o $@ $<
$(B)/obj/src/emu/vm/simd/%.avx512.o: src/emu/vm/simd/%.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC,$< (avx512))$(CC) $(ALL_CFLAGS) $(SIMD_avx512) -DEMU_ISA=avx512 -MMD -MP -c -o $@ $<

# CUPTI's host header includes <string>, C++'s; an empty file of that name stands in for it.
$(B)/obj/src/cuda/%.o $(B)/obj/tests/unit/cuda/%.o $(B)/obj/tests/gpu/%.o $(B)/obj/src/runtime/%.o: CFLAGS_FOLDER := -Isrc/cuda/shim
$(B)/obj/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) $(CFLAGS_FOLDER) -MMD -MP -c -o $@ $<
$(B)/obj/%.o: %.cu $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) -x c $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/flags: FORCE
	@mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' > $@.tmp; cmp -s $@.tmp $@ && rm $@.tmp || mv $@.tmp $@

# Tables made from the folders: a line per name, written only when it changes.
table = @mkdir -p $(@D); for n in $(2); do echo "$(1)($$n)"; done > $@.tmp; cmp -s $@.tmp $@ && rm $@.tmp || mv $@.tmp $@
$(B)/gen/kernels.def: FORCE
	$(call table,KERNEL,$(KERNELS))
$(B)/gen/views.def: FORCE
	$(call table,VIEW,$(VIEWS))
$(B)/gen/verbs.def: FORCE
	$(call table,VERB,$(VERBS))
$(B)/gen/backends.def: FORCE
	$(call table,BACKEND,$(BACKENDS))
ASSETS := $(sort $(KERNELS:%=kernels/%.cu) $(GPUS:%=presets/gpus/%.yaml) $(PRESETS:%=presets/%.yaml) \
	$(wildcard presets/*/*.json) $(wildcard pages/*.txt) src/model/snapshot.schema.json src/model/kernel.h src/base/err.h \
	$(wildcard src/compile/nvcc/*))
$(B)/gen/assets.S: src/base/assets.sh $(ASSETS) FORCE
	@mkdir -p $(@D); sh src/base/assets.sh $(ASSETS) > $@.tmp; cmp -s $@.tmp $@ && rm $@.tmp || mv $@.tmp $@
$(B)/obj/gen/assets.o: $(B)/gen/assets.S $(ASSETS)
	@mkdir -p $(@D)
	$(call say,AS,$@)$(CC) -c -o $@ $<
# Catalogues of the screen's languages, src/lang/<code>.po: sorted tables, built into the program.
LANGS := $(sort $(wildcard src/lang/*.po))
$(B)/po_table: $(B)/obj/src/compile/tool/po_table.o
	$(call say,LINK,$@)$(CC) $(ALL_LDFLAGS) -o $@ $<
$(B)/gen/lang_tables.c: $(B)/po_table $(LANGS) FORCE
	@mkdir -p $(@D); $(B)/po_table $(LANGS) > $@.tmp
	@cmp -s $@.tmp $@ && rm $@.tmp || mv $@.tmp $@
$(B)/gen/lang_of_test.c: $(B)/po_table tests/unit/base/lang.po
	@mkdir -p $(@D); $^ > $@
$(B)/obj/gen/lang_%.o: $(B)/gen/lang_%.c
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) -c -o $@ $<
$(B)/obj/src/lab/registry.o $(B)/obj/src/compile/tool/prefill.o $(B)/obj/src/cli/view_list.o: $(B)/gen/kernels.def $(B)/gen/views.def $(B)/gen/backends.def
$(B)/obj/src/cli/cli.o: $(B)/gen/verbs.def
$(B)/obj/tests/unit/ui/test_views.o $(B)/obj/tests/unit/ui/test_view_goldens.o $(B)/obj/tests/unit/ui/test_lang_goldens.o $(B)/obj/tests/unit/ui/test_panel_sums.o: $(B)/gen/views.def

# --- tests ---------------------------------------------------------------------------------------
# tests/unit/<layer>/test_x.c may use <layer> and what lies below it, and has the folder's
# fixture*.c linked in, and a main() where it has none.
NEEDS_base    := base
NEEDS_model   := model base
NEEDS_ptx     := ptx base
NEEDS_sass    := $(LIB_NAMES)
NEEDS_compile := compile model base
NEEDS_timemodel := timemodel model base
NEEDS_emu     := emu sass ptx backend timemodel compile model base
NEEDS_cuda    := cuda backend timemodel compile kernels model base
NEEDS_ui      := ui views model base
NEEDS_kernels := $(LIB_NAMES)
NEEDS_lab     := $(LIB_NAMES)
NEEDS_seeds   := $(LIB_NAMES)
UNIT_SRC := $(wildcard tests/unit/*/test_*.c)
UNIT     := $(UNIT_SRC:tests/unit/%.c=$(B)/unit/%)
define unit_rule
$(B)/unit/$(1)/%: $(B)/obj/tests/unit/$(1)/%.o $(call obj,$(wildcard tests/unit/$(1)/fixture*.c)) $(NEEDS_$(1):%=$(B)/lib/%.a) $(B)/lib/unit.a
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)$$(CC) $$(ALL_LDFLAGS) -o $$@ $$(filter %.o,$$^) -Wl,--start-group $$(filter %.a,$$^) -Wl,--end-group $$(LIBS) $$(TEST_LIBS)
endef
$(foreach l,base model timemodel ptx sass compile emu cuda ui kernels lab seeds,$(eval $(call unit_rule,$(l))))
$(B)/unit/base/test_lang: $(B)/obj/gen/lang_of_test.o
# Stand-ins for NVIDIA's libraries, opened by tests of the GPU back end and of the compiler.
$(B)/unit/cuda/fake_nvidia.so: $(filter-out %/fake_run.h,$(wildcard tests/unit/cuda/fake_*.[ch]))
# A program that launches through the stand-in, for tests of whole programs on a GPU.
$(B)/unit/cuda/injected_program: tests/unit/cuda/injected_program.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(filter-out $(SAN_FLAGS),$(ALL_CFLAGS)) -o $@ $< -ldl
$(B)/unit/compile/fake_nvrtc.so: tests/unit/compile/fake_nvrtc.c
$(B)/unit/%.so: $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC,$(filter %.c,$^))$(CC) $(filter-out $(SAN_FLAGS),$(ALL_CFLAGS)) -Isrc/cuda/shim -fPIC -shared -o $@ $(filter %.c,$^)
$(B)/unit/cuda/test_backend $(B)/unit/cuda/test_backend_faults $(B)/unit/cuda/test_backend_cancel $(B)/unit/cuda/test_kill: $(B)/unit/cuda/fake_nvidia.so
$(B)/unit/compile/test_compile_worker: $(B)/unit/compile/fake_nvrtc.so

## units: build and run the unit tests only (UNITS="unit/ui emu/test_races" for some)
units: $(if $(UNITS),$(foreach u,$(UNIT),$(if $(strip $(foreach w,$(UNITS),$(findstring $(w),$(u)))),$(u))),$(UNIT))
	@sh tests/run.sh $(B) $(or $(UNITS),units)
## test: set up, build, run every test; ends with "N passed, N failed"
test: all $(UNIT) $(B)/unit/cuda/injected_program
	@sh tests/run.sh $(B)
## test-programs: build everything that `make test` runs
test-programs: all $(UNIT) $(B)/unit/cuda/injected_program
## seeds: the sources' examples: id, test or preset step, passed or the reason why there is none
seeds: all $(UNIT)
	@sh tests/seeds.sh $(B)
need_python = @command -v python3 >/dev/null || { echo 'make $@ needs python3: apt-get install python3' >&2; exit 1; }
## check-layers: what files include and call follows the layer rule of src/README.md; no circles
check-layers: all
	$(need_python)
	@CC='$(CC)' python3 -B tests/habits/layers.py --self-test
	@python3 -B tests/habits/layers.py $(B)/obj
# The tools come from PyPI, pinned; what they said of a file is kept until something it reads changes.
LINT = CC='$(CC)' LINT_FLAGS='$(filter-out -W%,$(ALL_CFLAGS)) -Isrc/cuda/shim' python3 -B tests/habits/lint.py build/lint/tools build/lint/cache
build/lint/tools/wheels.txt: src/setup/lint-wheels.txt src/setup/lint.sh src/setup/wheels.sh
	@mkdir -p build/lint
	@sh src/setup/lint.sh build/lint/tools
## programs-compiler: nvcc for whole programs where there is no CUDA Toolkit (100 MB into build/cuda)
programs-compiler:
	@sh src/setup/compiler.sh build/cuda
## lint: style, sizes, lone headers, clang-tidy, cppcheck: no findings (LINT_PATHS="src/ui views" for some)
lint: $(addprefix $(B)/gen/,guest_names.h kernels.def views.def verbs.def backends.def) build/lint/tools/wheels.txt
	@python3 -B tests/mutants/mutants.py --places
	@$(LINT) $(LINT_PATHS)
## format: write src, views and tests in the one style (.clang-format)
format: build/lint/tools/wheels.txt
	@$(LINT) --format
## check-bare: as root, both README commands on a new machine: a chroot (RELEASE=trixie, TESTS=quick)
RELEASE ?= bookworm
check-bare:
	@bash tests/bare/check-bare.sh $(RELEASE)
## mutants: plant the faults of tests/mutants/faults.txt one by one; the tests must find 95 of 100 (MUTANTS=path)
mutants: all $(UNIT)
	$(need_python)
	@CC='$(CC)' python3 -B tests/mutants/mutants.py $(B) faults.txt $(MUTANTS)
## cures: take what the README promises rests on away, one by one: a test must fail each time (CURES=path)
cures: all $(UNIT)
	$(need_python)
	@CC='$(CC)' python3 -B tests/mutants/mutants.py $(B) cures.txt $(CURES)
## cost: add a kernel, a view, a preset ... in a scratch copy (COST_IN, which then stays); files touched may not grow (tests/habits/cost.txt)
cost:
	$(need_python)
	@CC='$(CC)' WERROR='$(WERROR)' CFLAGS='$(CFLAGS)' SIMD_OPT='$(SIMD_OPT)' python3 -B tests/habits/cost.py $(COST)
## asan-check: unit, kernel and PTX tests under AddressSanitizer and UBSan
asan-check:
	@TEST_TIMEOUT=1800 $(MAKE) SANITIZE=address,undefined test
## tsan-check: the same under ThreadSanitizer
tsan-check:
	@TEST_TIMEOUT=1800 $(MAKE) SANITIZE=thread units
## check-gpu: on a machine with an NVIDIA GPU: every kernel, against ncu and the emulator; results in build/gpu/results
GPU_NEEDS := $(addprefix $(B)/lib/,cuda.a emu.a backend.a timemodel.a compile.a ptx.a sass.a kernels.a model.a base.a)
GPU_FAMILIES := $(patsubst %.cu,$(B)/obj/%.o,$(wildcard tests/gpu/families/*.cu))
$(B)/gpu/gpu_check: $(call obj,$(wildcard tests/gpu/*.c)) $(GPU_FAMILIES) $(GPU_NEEDS)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) -Wl,--start-group $(GPU_NEEDS) -Wl,--end-group $(LIBS)
check-gpu: $(B)/gpu/gpu_check $(if $(filter random,$(PARTS)),$(B)/pmpp-explore)
	@sh tests/gpu/check-gpu.sh $< $(B)/gpu/results
## bless: rewrite golden screens from what the program draws now; read the diff
bless: $(UNIT)
	@BLESS=1 sh tests/run.sh $(B) units
## machine-code: how many kernels run as machine code, by architecture, and why others do not: build/machine-code.md
machine-code: all $(B)/unit/emu/test_ptx_cases
	$(Q)python3 -B tests/sass/survey.py $(B) $(B)/survey > $(B)/machine-code.md; status=$$?; cat $(B)/machine-code.md; exit $$status

## ptx-forms: table of PTX forms, their cases, what the emulator and a card make of them: build/ptx-forms.md
ptx-forms: $(B)/unit/emu/test_ptx_cases
	$(Q)python3 -B tests/ptx/forms.py $< > $(B)/ptx-forms.md; status=$$?; tail -n 1 $(B)/ptx-forms.md; exit $$status
## lang: new messages into src/lang/*.po, gone ones out; translate those with an empty msgstr
lang:
	$(need_python)
	@python3 -B src/lang/lang.py update
## check-screens: 5000 screens of random states and sizes in every language: nothing overlaps or is cut (SCREENS=n SEED=n)
SCREENS ?= 5000
SEED ?= 1
check-screens: $(B)/unit/ui/test_random_screens
	@SCREENS=$(SCREENS) SEED=$(SEED) $<
## pictures: every panel of the real program in a real terminal, as SVG, and a lesson as asciicast, in build/pictures
pictures: $(B)/pmpp-explore
	@PMPP=$(B)/pmpp-explore sh tests/tty/pictures.sh $(B)/pictures
## oom: the n-th allocation fails, at POINTS places (default 600) of run, list, export, preset, screen ...
POINTS ?= 600
$(B)/oom/fail_nth.so: tests/oom/fail_nth.c
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) -O1 -shared -fPIC -o $@ $<
oom: all $(B)/oom/fail_nth.so
	@sh tests/oom/sweep.sh $(abspath $(B)/pmpp-explore) $(abspath $(B)/oom/fail_nth.so) $(POINTS) $(SCENARIOS)
## inject: every function that can fail does so once, over every verb: none may end with status 0
INJECT := $(B)/inject
$(INJECT)/pmpp-explore: all tests/inject/wrap.py
	$(need_python)
	@rm -rf $(@D) && mkdir -p $(@D) && python3 -B tests/inject/wrap.py src $(@D)
	$(call say,LINK,$@)$(CC) $(filter-out -W%,$(ALL_CFLAGS)) -w -Isrc/cuda/shim $(ALL_LDFLAGS) -Wl,--dynamic-list=src/userkernel/kernel_api.list -o $@ @$(@D)/wrap.ld \
		$(@D)/*.c $(B)/obj/src/main.o $(B)/obj/gen/cache.o $(LIBRARIES_IN) -Wl,--start-group $(ARCHIVES) -Wl,--end-group $(LIBS)
inject: $(INJECT)/pmpp-explore
	@TEST_ROOT=$(CURDIR) sh tests/inject/sweep.sh $(abspath $<) $(VERBS_INJECTED)
## fuzz: whatever reads input of others under libFuzzer, ASan, UBSan (clang), T seconds per target
T ?= 20
FUZZERS := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
fuzz:
	@command -v clang >/dev/null || { echo 'make fuzz needs clang: apt-get install clang' >&2; exit 1; }
	@$(MAKE) --no-print-directory CC=clang SANITIZE=fuzzer-no-link,address,undefined fuzz-run
fuzz-run: $(FUZZERS:%=$(B)/fuzz/%)
	@sh tests/fuzz/fuzz.sh $(B)/fuzz $(T) $(FUZZERS)
## fuzz-smoke: the same targets in the plain build, with inputs of our own making, T seconds each
fuzz-smoke: fuzz-run
FUZZ_ENGINE := $(if $(findstring fuzzer,$(SANITIZE)),-fsanitize=fuzzer,$(B)/obj/tests/fuzz/mutate.o)
$(B)/fuzz/fuzz_runtime: $(call obj,$(filter $(GUEST)/%,$(SRC)))
$(B)/obj/tests/fuzz/fuzz_runtime.o: $(B)/gen/guest_names.h
$(B)/fuzz/%: $(B)/obj/tests/fuzz/%.o $(ARCHIVES) $(filter %.o,$(FUZZ_ENGINE))
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(ALL_LDFLAGS) $(filter -%,$(FUZZ_ENGINE)) -o $@ $(filter %.o,$^) -Wl,--start-group $(ARCHIVES) -Wl,--end-group $(LIBS)
## storm: KEYS keys (default 100000), a tenth as many sizes, killed processes, memory: plain, ASan with LSan, TSan
KEYS ?= 100000
storm:
	@$(MAKE) --no-print-directory storm-run
	@$(MAKE) --no-print-directory SANITIZE=address,undefined storm-run
	@$(MAKE) --no-print-directory SANITIZE=thread storm-run
storm-run: $(B)/pmpp-explore $(B)/storm/storm $(B)/unit/cuda/fake_nvidia.so
	@sh tests/storm/storm.sh $(abspath $(B)) $(KEYS)
$(B)/storm/storm: tests/storm/storm.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) -std=c11 -D_POSIX_C_SOURCE=200809L -O1 $(WARN) $(if $(findstring address,$(SANITIZE)),-fsanitize=address) \
		$(if $(findstring thread,$(SANITIZE)),-fsanitize=thread) -o $@ $< -lutil
# A bench program may use everything.
$(B)/bench/%: $(B)/obj/tests/bench/%.o $(B)/obj/gen/cache.o $(ARCHIVES)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(ALL_LDFLAGS) -o $@ $< $(B)/obj/gen/cache.o -Wl,--start-group $(ARCHIVES) -Wl,--end-group $(LIBS)
## bench: speed of emulator and screen; BASE=commit: of the emulator against that commit's
bench: all $(if $(BASE),$(B)/bench/emu_bench)
	@sh tests/bench/$(if $(BASE),compare.sh $(B) $(BASE),bench.sh $(B))
## model-replay: tools that keep what the time model is given, and run it alone (tests/gpu/model_error.py --record, --replay)
model-replay: $(B)/replay/model_record $(B)/replay/model_replay
$(B)/replay/model_record: $(B)/obj/tests/replay/record.o $(B)/pmpp-explore
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(ALL_LDFLAGS) -Wl,--wrap=regions_build -Wl,--wrap=kernel_time \
		-Wl,--dynamic-list=src/userkernel/kernel_api.list -o $@ $< $(B)/obj/src/main.o $(B)/obj/gen/cache.o $(LIBRARIES_IN) \
		-Wl,--start-group $(ARCHIVES) -Wl,--end-group $(LIBS)
$(B)/replay/model_replay: $(B)/obj/tests/replay/replay.o $(addprefix $(B)/lib/,timemodel.a model.a base.a)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(ALL_LDFLAGS) -o $@ $< -Wl,--start-group $(addprefix $(B)/lib/,timemodel.a model.a base.a) -Wl,--end-group $(LIBS)

## run: set up, build, open the program (ARGS="..." for arguments)
run: all
	@$(B)/pmpp-explore $(ARGS)
## install: copy the program to $(PREFIX)/bin (default /usr/local)
PREFIX ?= /usr/local
install: all
	install -D -m 755 $(B)/pmpp-explore $(DESTDIR)$(PREFIX)/bin/pmpp-explore
## clean: remove build/ except what was fetched (CUDA wheels, tools of lint)
clean:
	rm -rf $(filter-out build/cuda build/lint,$(wildcard build/*)) compile_commands.json
## list: this list
list:
	@sed -n 's/^## \([a-z-]*\): /\1\t/p' Makefile | while IFS='	' read -r t d; do printf '  %-14s %s\n' "$$t" "$$d"; done
help: list

compile_commands.json: Makefile $(SRC) $(wildcard views/*.c)
	@{ printf '[\n'; sep=; for f in $(filter %.c,$^); do printf '%s{"directory":"%s","file":"%s","command":"%s -c %s"}' "$$sep" "$(CURDIR)" "$$f" "$(CC) $(ALL_CFLAGS)" "$$f"; sep=',\n'; done; printf '\n]\n'; } > $@

FORCE:
.PHONY: programs-compiler all units test test-programs check-bare seeds check-layers lint format cost mutants cures asan-check tsan-check oom inject check-gpu bless check-screens lang ptx-forms machine-code pictures bench fuzz fuzz-run fuzz-smoke storm storm-run run install clean list help FORCE
-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)
