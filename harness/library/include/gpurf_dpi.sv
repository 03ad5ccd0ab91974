// libgpurf for SystemVerilog: the functions of gpurf.h that a testbench needs, as imports for DPI-C.
//
// docs/library.md describes them. An array of bits has one fixed width in DPI-C, so the vectors of all inputs and of all outputs
// cross in chunks of 1024 bits, the lowest first. X and Z count as 0. A function that fails returns -1 or null, and
// gpurf_error() says why.
package gpurf_dpi;

  import "DPI-C" function string gpurf_version();
  import "DPI-C" function string gpurf_error();

  import "DPI-C" function chandle gpurf_new(input string name, input string preset, input string settings);
  import "DPI-C" function void gpurf_free(input chandle block);

  // Signals one by one.
  import "DPI-C" function int gpurf_signal(input chandle block, input string name);
  import "DPI-C" function int gpurf_set(input chandle block, input int unsigned index, input int unsigned element,
                                        input longint unsigned value);
  import "DPI-C" function longint unsigned gpurf_get(input chandle block, input int unsigned index,
                                                     input int unsigned element);
  import "DPI-C" function int gpurf_is_valid(input chandle block, input int unsigned index, input int unsigned element);
  import "DPI-C" function int gpurf_watch(input chandle block, input int on);

  // Vectors.
  import "DPI-C" function int gpurf_input_bits(input chandle block);
  import "DPI-C" function int gpurf_output_bits(input chandle block);
  import "DPI-C" function int gpurf_put_input_chunk(input chandle block, input int unsigned chunk, input bit [1023:0] bits);
  import "DPI-C" function int gpurf_get_input_chunk(input chandle block, input int unsigned chunk, output bit [1023:0] bits);
  import "DPI-C" function int gpurf_put_output_chunk(input chandle block, input int unsigned chunk, input bit [1023:0] bits);

  // Cycles and comparison.
  import "DPI-C" function int gpurf_settle(input chandle block);
  import "DPI-C" function int gpurf_edge(input chandle block);
  import "DPI-C" function int gpurf_step(input chandle block);
  import "DPI-C" function int gpurf_ignore(input chandle block, input string port);
  import "DPI-C" function int gpurf_check(input chandle block);
  import "DPI-C" function string gpurf_report(input chandle block);
  import "DPI-C" function longint unsigned gpurf_cycle(input chandle block);

  // Random inputs.
  import "DPI-C" function int gpurf_seed(input chandle block, input longint unsigned seed);
  import "DPI-C" function int gpurf_stimulate(input chandle block);

  // State.
  import "DPI-C" function chandle gpurf_save(input chandle block);
  import "DPI-C" function int gpurf_restore(input chandle block, input chandle state);
  import "DPI-C" function void gpurf_free_state(input chandle state);

endpackage
