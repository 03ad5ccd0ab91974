// The model from C: writes a register to the tags of a register file cache, and looks it up.
//
//   cc look_up.c $(pkg-config --cflags --libs gpurf) -o look_up

#include <gpurf.h>
#include <stdio.h>
#include <stdlib.h>

static gpurf_block *tags;

static int require(int status) {
  if (status < 0) {
    fprintf(stderr, "%s\n", gpurf_error());
    exit(1);
  }
  return status;
}

static uint32_t signal_number(const char *name) { return (uint32_t)require(gpurf_signal(tags, name)); }

static void set(const char *name, uint32_t element, uint64_t value) {
  require(gpurf_set(tags, signal_number(name), element, value));
}

static uint64_t get(const char *name, uint32_t element) { return gpurf_get(tags, signal_number(name), element); }

int main(void) {
  tags = gpurf_new("rfc_tags", "rfc", "rfc.entries=3");
  if (tags == NULL) {
    fprintf(stderr, "%s\n", gpurf_error());
    return 1;
  }
  set("rst_ni", 0, 0);
  require(gpurf_step(tags));
  set("rst_ni", 0, 1);

  // A result of slot 2 goes to register 17, in lanes 0 to 15.
  set("op_valid_i", 0, 1);
  set("op_slot_i", 0, 2);
  set("op_reg_i", 0, 17);
  set("op_mask_i", 0, 0xffff);
  require(gpurf_step(tags));
  set("op_valid_i", 0, 0);

  // An instruction of that slot reads it, in all lanes.
  set("look_valid_i", 0, 1);
  set("look_slot_i", 0, 2);
  set("look_src_valid_i", 0, 1);
  set("look_reg_i", 0, 17);
  set("look_mask_i", 0, 0xffffffff);
  gpurf_state *before = gpurf_save(tags);
  require(gpurf_settle(tags));
  printf("cycle %llu: hit_mask_o[0] = 0x%08llx, entry %llu\n", (unsigned long long)gpurf_cycle(tags),
         (unsigned long long)get("hit_mask_o", 0), (unsigned long long)get("hit_index_o", 0));

  // The slot is dropped: its registers are no longer found. In the saved state they are.
  set("look_valid_i", 0, 0);
  set("flush_i", 0, 1 << 2);
  set("drop_i", 0, 1 << 2);
  require(gpurf_step(tags));
  set("flush_i", 0, 0);
  set("drop_i", 0, 0);
  set("look_valid_i", 0, 1);
  require(gpurf_settle(tags));
  printf("cycle %llu: hit_mask_o[0] = 0x%08llx\n", (unsigned long long)gpurf_cycle(tags),
         (unsigned long long)get("hit_mask_o", 0));
  require(gpurf_restore(tags, before));
  require(gpurf_settle(tags));
  printf("cycle %llu: hit_mask_o[0] = 0x%08llx\n", (unsigned long long)gpurf_cycle(tags),
         (unsigned long long)get("hit_mask_o", 0));

  gpurf_free_state(before);
  gpurf_free(tags);
  return 0;
}
