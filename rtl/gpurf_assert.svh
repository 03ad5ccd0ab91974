// Assertions of the blocks.
//
//   `GPURF_ASSERT(name, condition, "what went wrong")
//
// at module level checks `condition` at every clock edge outside reset. With
//
//   `GPURF_ASSERT_WHEN(name, enable, condition, "what went wrong")
//
// a condition that costs simulation time is looked at only where it can have changed. Both expect the house names
// `clk_i` and `rst_ni` in scope. An immediate assertion in a clocked process says everything that
// is needed here, and every simulator knows it. Synthesis sees nothing of it.
`ifndef GPURF_ASSERT_SVH
`define GPURF_ASSERT_SVH

// Of a state that nothing has reset yet they say nothing. Proofs that begin with any state assume them in reset too.
`ifdef GPURF_ASSERT_IN_RESET
`define GPURF_CHECKED 1'b1
`else
`define GPURF_CHECKED rst_ni
`endif

`ifndef SYNTHESIS
`define GPURF_ASSERT_WHEN(Name, Enable, Condition, Message) \
  always_ff @(posedge clk_i) begin \
    if (`GPURF_CHECKED && (Enable)) begin \
      Name : assert (Condition) else $error(Message); \
    end \
  end
`else
`define GPURF_ASSERT_WHEN(Name, Enable, Condition, Message)
`endif

`define GPURF_ASSERT(Name, Condition, Message) \
  `GPURF_ASSERT_WHEN(Name, 1'b1, Condition, Message)

`endif
