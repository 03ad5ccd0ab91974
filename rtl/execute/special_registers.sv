// Special registers (S2R): thread, block and lane numbers, and the time.
//
// The threads' coordinates are computed by the launcher once for each grid, because all its blocks
// are alike, into a RAM with a word for each warp of a block. Everything else is the same in all
// lanes, or is derived from the lane number. The RAM is read, and the value common to all lanes is latched, at the
// end of the cycle of an S2R; the value of each lane is derived from these in the next cycle.
`include "gpurf_assert.svh"

module special_registers
  import gpurf_pkg::*;
#(
  localparam int unsigned BlockWarps = 32,                     // warps of a block
  localparam int unsigned IndexW = $clog2(BlockWarps),
  localparam int unsigned Groups = Lanes / GroupLanes,
  localparam int unsigned GroupW = $clog2(Groups),
  localparam int unsigned SourceW = 5
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  // coordinates of four threads: {6'b0, z, y, x} of each
  input  logic               tid_we_i,
  input  logic [IndexW-1:0]  tid_index_i,                      // warp of the block
  input  logic [GroupW-1:0]  tid_group_i,
  input  logic [LaneW-1:0]   tid_data_i [GroupLanes],

  // the grid
  input  logic [10:0]        ntid_x_i,
  input  logic [10:0]        ntid_y_i,
  input  logic [6:0]         ntid_z_i,
  input  logic [31:0]        nctaid_x_i,
  input  logic [15:0]        nctaid_y_i,
  input  logic [15:0]        nctaid_z_i,
  input  logic [16:0]        dynamic_shared_i,                 // bytes

  input  logic [TimeW-1:0]   time_i,                           // time in this cycle

  // instruction
  input  logic               valid_i,
  input  logic               room_i,                           // the result queue has room
  input  logic [WarpW-1:0]   warp_i,
  input  logic [Lanes-1:0]   lanes_i,
  input  logic [SourceW-1:0] source_i,
  input  logic               reg_valid_i,
  input  logic [RegW-1:0]    reg_i,
  input  logic [IndexW-1:0]  index_i,                          // the warp's number in its block
  input  logic [31:0]        ctaid_x_i,
  input  logic [15:0]        ctaid_y_i,
  input  logic [15:0]        ctaid_z_i,
  output logic [Lanes-1:0]   served_o,

  // result, in the cycle after
  output logic               result_valid_o,
  output logic [WarpW-1:0]   result_warp_o,
  output logic [Lanes-1:0]   result_mask_o,
  output logic               result_reg_valid_o,
  output logic [RegW-1:0]    result_reg_o,
  output logic [DataW-1:0]   result_data_o
);

  localparam logic [SourceW-1:0] TidX          = 5'd0;
  localparam logic [SourceW-1:0] TidY          = 5'd1;
  localparam logic [SourceW-1:0] TidZ          = 5'd2;
  localparam logic [SourceW-1:0] NtidX         = 5'd3;
  localparam logic [SourceW-1:0] NtidY         = 5'd4;
  localparam logic [SourceW-1:0] NtidZ         = 5'd5;
  localparam logic [SourceW-1:0] CtaidX        = 5'd6;
  localparam logic [SourceW-1:0] CtaidY        = 5'd7;
  localparam logic [SourceW-1:0] CtaidZ        = 5'd8;
  localparam logic [SourceW-1:0] NctaidX       = 5'd9;
  localparam logic [SourceW-1:0] NctaidY       = 5'd10;
  localparam logic [SourceW-1:0] NctaidZ       = 5'd11;
  localparam logic [SourceW-1:0] LaneId        = 5'd12;
  localparam logic [SourceW-1:0] WarpId        = 5'd13;
  localparam logic [SourceW-1:0] LaneMaskEq    = 5'd14;
  localparam logic [SourceW-1:0] LaneMaskLt    = 5'd15;
  localparam logic [SourceW-1:0] LaneMaskLe    = 5'd16;
  localparam logic [SourceW-1:0] LaneMaskGt    = 5'd17;
  localparam logic [SourceW-1:0] LaneMaskGe    = 5'd18;
  localparam logic [SourceW-1:0] ActiveMask    = 5'd19;
  localparam logic [SourceW-1:0] DynamicShared = 5'd20;
  localparam logic [SourceW-1:0] TimeLow       = 5'd21;
  localparam logic [SourceW-1:0] TimeHigh      = 5'd22;

  // A thread's coordinates.
  localparam int unsigned TidXW = 10;
  localparam int unsigned TidYW = 10;
  localparam int unsigned TidZW = 6;

  typedef logic [LaneW-1:0]            lane_t;
  typedef logic [Lanes-1:0][LaneW-1:0] lanes_t;

  logic               valid_q;
  logic [WarpW-1:0]   warp_q;
  logic [Lanes-1:0]   mask_q;
  logic [SourceW-1:0] source_q;
  logic               reg_valid_q;
  logic [RegW-1:0]    reg_q;
  lane_t              value_q;   // value common to all lanes

  logic               perform;
  logic [Lanes-1:0]   tid_mask;
  logic [DataW-1:0]   tid_word;
  // Coordinates leave the top of each word empty.
  // verilator lint_off UNUSEDSIGNAL
  lanes_t             tid;
  // verilator lint_on UNUSEDSIGNAL

  assign perform  = valid_i & room_i;
  assign served_o = perform ? lanes_i : '0;

  assign result_valid_o     = valid_q;
  assign result_warp_o      = warp_q;
  assign result_mask_o      = mask_q;
  assign result_reg_valid_o = valid_q & reg_valid_q;
  assign result_reg_o       = reg_q;

  // The data of four lanes is repeated for every group; the mask selects the group that is written.
  assign tid_mask = Lanes'({GroupLanes{1'b1}}) << {tid_group_i, {$clog2(GroupLanes){1'b0}}};
  assign tid_word = {Groups{tid_data_i[3], tid_data_i[2], tid_data_i[1], tid_data_i[0]}};

  ram_1r1w #(
    .Depth(BlockWarps),
    .Parts(Lanes),
    .PartW(LaneW)
  ) u_tid_ram (
    .clk_i,
    .re_i   (perform && source_i <= TidZ),
    .raddr_i(index_i),
    .we_i   (tid_we_i),
    .waddr_i(tid_index_i),
    .wmask_i(tid_mask),
    .wdata_i(tid_word),
    .rdata_o(tid)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= 1'b0;
    else         valid_q <= perform;
  end

  // The payload has no reset: it means nothing while valid_q is low.
  always_ff @(posedge clk_i) begin
    if (perform) begin
      warp_q      <= warp_i;
      mask_q      <= lanes_i;
      source_q    <= source_i;
      reg_valid_q <= reg_valid_i;
      reg_q       <= reg_i;
      case (source_i)
        NtidX:         value_q <= lane_t'(ntid_x_i);
        NtidY:         value_q <= lane_t'(ntid_y_i);
        NtidZ:         value_q <= lane_t'(ntid_z_i);
        CtaidX:        value_q <= ctaid_x_i;
        CtaidY:        value_q <= lane_t'(ctaid_y_i);
        CtaidZ:        value_q <= lane_t'(ctaid_z_i);
        NctaidX:       value_q <= nctaid_x_i;
        NctaidY:       value_q <= lane_t'(nctaid_y_i);
        NctaidZ:       value_q <= lane_t'(nctaid_z_i);
        WarpId:        value_q <= lane_t'(index_i);
        ActiveMask:    value_q <= lanes_i;
        DynamicShared: value_q <= lane_t'(dynamic_shared_i);
        TimeLow:       value_q <= time_i[LaneW-1:0];
        TimeHigh:      value_q <= time_i[TimeW-1:LaneW];
        default:       value_q <= '0;
      endcase
    end
  end

  // The source is decided once, outside the loops over the lanes.
  always_comb begin : each_lane
    automatic lanes_t d;
    // Numbers above the last source read as 0, as their common value is 0.
    d = {Lanes{value_q}};
    case (source_q)
      TidX: for (int unsigned l = 0; l < Lanes; l++) d[l] = lane_t'(tid[l][0 +: TidXW]);
      TidY: for (int unsigned l = 0; l < Lanes; l++) d[l] = lane_t'(tid[l][TidXW +: TidYW]);
      TidZ: begin
        for (int unsigned l = 0; l < Lanes; l++) d[l] = lane_t'(tid[l][TidXW+TidYW +: TidZW]);
      end
      LaneId:     for (int unsigned l = 0; l < Lanes; l++) d[l] = l;
      LaneMaskEq: for (int unsigned l = 0; l < Lanes; l++) d[l] = 32'd1 << l;
      LaneMaskLt: for (int unsigned l = 0; l < Lanes; l++) d[l] = (32'd1 << l) - 1;
      LaneMaskLe: for (int unsigned l = 0; l < Lanes; l++) d[l] = (32'd2 << l) - 1;
      LaneMaskGt: for (int unsigned l = 0; l < Lanes; l++) d[l] = ~((32'd2 << l) - 1);
      LaneMaskGe: for (int unsigned l = 0; l < Lanes; l++) d[l] = ~((32'd1 << l) - 1);
      default: ;
    endcase
    for (int unsigned l = 0; l < Lanes; l++) d[l] = d[l] & {LaneW{mask_q[l]}};
    result_data_o = d;
  end

endmodule
