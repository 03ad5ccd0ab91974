# What dvsim calls for a build and for a run (scripts/dvsim.hjson). The options of a run are a tier, a shard counted from 0, the number of shards and a folder.
.PHONY: build run

build:
	$(build_cmd) $(build_opts)

tier = $(word 1,$(run_opts))
shard = $(shell expr $(word 2,$(run_opts)) + 1)
shards = $(word 3,$(run_opts))
folder = $(word 4,$(run_opts))

# dvsim makes the run's folder anew each time; the journal is kept elsewhere, so that a shard that was killed continues.
run:
	GPURF_HOME=$(proj_root) $(run_cmd) regress --tier $(tier) --shard $(shard)/$(shards) --resume --out $(folder)/$(tier)/$(shard)-of-$(shards)
