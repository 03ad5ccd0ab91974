# Entry points of the project; `make` alone lists them.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help cosim test wave regress mutants bench pgo reproduce artifact synth energy prove kernels examples library testbench run lint site clean

# Long runs of lockstep use a release build. Tests use the dev profile: it checks for overflow, and builds faster after an edit.
GPURF := cargo run --release --package gpurf-cli --

# The variables that narrow or lengthen a run. BLOCK and SET take several values, separated by spaces.
SELECT = $(addprefix --block ,$(BLOCK)) $(addprefix --kernel ,$(KERNEL)) $(addprefix --preset ,$(PRESET)) $(addprefix --set ,$(SET)) \
	$(addprefix --seed ,$(SEED)) $(addprefix --cycles ,$(CYCLES)) $(addprefix --jobs ,$(JOBS))

# Options that choose the part of a plan to run.
REGRESS = --tier $(or $(TIER),nightly) $(if $(RESUME),--resume) $(addprefix --cycles ,$(CYCLES)) $(addprefix --seed ,$(SEED))

# The page that `make reproduce` writes.
HTML ?= target/reports.html

help: ## this table
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' Makefile
	@echo "  Variables: BLOCK= KERNEL= PRESET= SET= SEED= CYCLES= JOBS= (mutants: COUNT= MISTAKES=), e.g. make cosim BLOCK='mrf mrf_arbiter' CYCLES=1000000"

cosim: ## RTL and model in lockstep: the default suite (WHOLE=1: every variant of every block, whole runs)
	@scripts/bootstrap.sh
	@$(GPURF) cosim $(if $(WHOLE),--whole) $(SELECT)

test: ## everything that must pass before a change lands
	@scripts/bootstrap.sh --lint --energy
	@scripts/test.sh

run: ## one kernel: KERNEL=tests/kernels/saxpy.toml (ENGINE=functional, model, rtl or lockstep; PRESET= SET= as above)
	@[ -n "$(KERNEL)" ] || { echo 'name a launch manifest: make run KERNEL=tests/kernels/saxpy.toml' >&2; exit 2; }
	@$(if $(filter rtl lockstep,$(ENGINE)),scripts/bootstrap.sh)
	@$(GPURF) run $(KERNEL) $(addprefix --engine ,$(ENGINE)) $(addprefix --preset ,$(PRESET)) $(addprefix --set ,$(SET))

wave: ## opens, or without a display names, the last failure's waveform (DIR= another one)
	@scripts/bootstrap.sh
	@$(GPURF) wave $(DIR)

regress: ## the long run: every preset, all kernels, programs, blocks and goldens (TIER=smoke: minutes; RESUME=1: go on; SHARD=I/N; SLURM=N: N shards on a Slurm cluster, OUT= its folder)
	@scripts/bootstrap.sh
ifdef SLURM
	@[ -z "$(SHARD)" ] || { echo 'regress: SLURM=$(SLURM) runs all shards, so SHARD=$(SHARD) has no meaning with it: leave one of them out' >&2; exit 2; }
	@cargo build --quiet --release --package gpurf-cli
	@$(if $(JOBS),SBATCH_OPTIONS="$$SBATCH_OPTIONS --cpus-per-task=$(JOBS)") scripts/slurm.sh $(SLURM) $(or $(OUT),target/regress/$(or $(TIER),nightly)) \
		$(REGRESS)
else
	@$(GPURF) regress $(REGRESS) $(addprefix --shard ,$(SHARD)) $(addprefix --jobs ,$(JOBS))
endif

mutants: ## faults put into the RTL: how many the lockstep catches, where, how fast; then every bit of its state
	@scripts/bootstrap.sh --mutants
	@$(GPURF) mutate $(addprefix --block ,$(BLOCK)) $(addprefix --seed ,$(SEED)) $(addprefix --count ,$(COUNT)) \
		$(addprefix --mistakes ,$(MISTAKES)) $(addprefix --jobs ,$(JOBS))
	@$(GPURF) audit $(addprefix --block ,$(BLOCK)) $(addprefix --seed ,$(SEED)) $(addprefix --jobs ,$(JOBS))

bench: ## speed of the lockstep, of plain Verilator and of the model (SIZES=1: how it falls as the SM grows; TRAIN=1: RTL compiled by a profile; OLD=DIR: this checkout against another one)
	@scripts/bootstrap.sh
	@$(if $(OLD),python3 scripts/bench_pair.py $(OLD) .,$(GPURF) bench $(if $(SIZES),--sizes) $(if $(TRAIN),--train))

pgo: ## the program optimised by a profile of itself, for long sweeps: target/pgo/gpurf (then e.g. make reproduce GPURF=target/pgo/gpurf)
	@scripts/bootstrap.sh --pgo
	@scripts/pgo.sh

reproduce: ## the papers' results beside ours: every report, as text and as one page with plots (SMALL=1: on little data, KERNEL= one manifest, JOBS=, HTML= the page)
	@mkdir -p $(dir $(HTML))
	@$(GPURF) report $(if $(SMALL),--small) $(addprefix --kernel ,$(KERNEL)) $(addprefix --jobs ,$(JOBS)) --html $(HTML)

artifact: ## every report, the goldens' digests and the versions of all tools in one archive, target/gpurf-VERSION-artifact.tar.gz (SMALL=1 as above)
	@cargo build --quiet --release --package gpurf-cli
	@scripts/artifact.sh $(if $(SMALL),--small) $(addprefix --kernel ,$(KERNEL)) $(addprefix --jobs ,$(JOBS))

synth: ## reads the whole RTL with Yosys: no latches, no loops; flip-flops and cells of each block (FULL=1: down to gates)
	@scripts/bootstrap.sh --mutants
	@scripts/synth.sh $(if $(FULL),--full)

energy: ## energy of blocks of the RTL as gates of an open cell library (BLOCK= some; PRESET= SET= CYCLES= SEED=; KERNEL= a manifest: its activity, TOML= a file of it for gpurf's --energy)
	@scripts/bootstrap.sh --energy
	@cargo build --quiet --release --package gpurf-library $(if $(KERNEL),--package gpurf-cli)
	@. scripts/allocator.sh; target/venv/bin/python scripts/energy.py $(addprefix --block ,$(BLOCK)) $(addprefix --kernel ,$(KERNEL)) $(addprefix --preset ,$(PRESET)) \
		$(addprefix --set ,$(SET)) $(addprefix --seed ,$(SEED)) $(addprefix --cycles ,$(CYCLES)) $(addprefix --toml ,$(TOML))

prove: ## proofs by a solver, at small sizes: what is read from the hybrid register file and from one whose banks are stolen is what was last written; stealing starves no access; what a load reads through the data cache is what was last written, and so in unified banks, each in its own space; no access meets a register that is not ON; two warps never access shared registers together (MUTANTS=1: faults that the proofs must not survive)
	@scripts/bootstrap.sh --proofs
	@. scripts/allocator.sh; target/venv/bin/python scripts/prove.py $(if $(MUTANTS),--mutants)

kernels: ## the test kernels' PTX again, with nvcc from PyPI (KERNEL= some, by name)
	@scripts/kernels.sh $(KERNEL)

examples: ## CUDA applications as they are, compiled with nvcc from PyPI, on the engines (EXAMPLE= some, by name; ENGINE= one)
	@ENGINE=$(ENGINE) scripts/examples.sh $(EXAMPLE)

library: ## libgpurf, the model for testbenches in C, SystemVerilog and Python (PREFIX= where to install it)
	@scripts/bootstrap.sh
	@scripts/library.sh $(PREFIX)

testbench: ## an example of a user's own module, compared through libgpurf (TESTBENCH=dpi or cocotb; BROKEN=1: with a fault; BENCH=1, CYCLES=)
	@scripts/bootstrap.sh
	@BROKEN=$(BROKEN) BENCH=$(BENCH) CYCLES=$(CYCLES) scripts/testbench.sh $(TESTBENCH)

lint: ## format and lints of Rust and RTL, without running anything
	@scripts/bootstrap.sh --lint --mutants
	@scripts/lint.sh

site: ## the pages as a book, with the crates' documentation and a gallery, in target/site (mdBook is built once, in minutes)
	@scripts/bootstrap.sh --site
	@scripts/site.sh

clean: ## removes what was built (failures/ stays)
	@rm -rf target
