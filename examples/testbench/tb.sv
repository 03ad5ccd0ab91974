// Compares my_rfc_tags with the model, under random inputs. `gpurf testbench rfc_tags` wrote the modules that drive and check it.
//
//   +cycles=N   cycles to run (default 100000)

module tb;

  localparam int unsigned Slots   = 8;
  localparam int unsigned Entries = 6;

  // The signals have the names of the ports, so that .* connects each module.
  logic        clk_i = 1'b0;
  logic        rst_ni;
  logic [2:0]  cfg_i;

  logic        look_valid_i, look_move_i;
  logic [2:0]  look_slot_i, look_src_valid_i, look_last_i;
  logic [31:0] look_mask_i;
  logic [7:0]  look_reg_i  [3];
  logic [31:0] hit_mask_o  [3];
  logic [5:0]  hit_index_o [3];
  logic [1:0]  hit_port_o  [3];
  logic [2:0]  read_o;

  logic        op_valid_i, op_kill_i, op_clean_i, op_ready_o, take_valid_i;
  logic [2:0]  op_slot_i;
  logic [7:0]  op_reg_i, take_reg_i;
  logic [31:0] op_mask_i, take_mask_i;
  logic [5:0]  op_index_o;

  logic        evict_room_i, evict_valid_o;
  logic [1:0]  evict_port_o;
  logic [5:0]  evict_index_o;
  logic [2:0]  evict_slot_o;
  logic [7:0]  evict_reg_o;
  logic [31:0] evict_mask_o;
  logic [7:0]  flush_i, drop_i, clean_o;

  gpurf_drive_rfc_tags u_drive (.*);
  my_rfc_tags #(.Slots(Slots), .Entries(Entries)) u_dut (.*);

  // The checker is bound into the module and connects to its ports.
  bind my_rfc_tags gpurf_check_rfc_tags u_check (.*);

  always #5 clk_i = ~clk_i;

  initial begin
    int unsigned cycles;
    cycles = 100000;
    void'($value$plusargs("cycles=%d", cycles));
    repeat (cycles) @(posedge clk_i);
    $finish;
  end

endmodule
