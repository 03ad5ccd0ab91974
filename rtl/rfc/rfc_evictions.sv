// Values on their way from one cache to the main register file.
//
// A ring of four places. A value has a place from the cycle after its eviction began, which is before its
// data has been read, until it is in its bank. Meanwhile its register must not be read from the main
// register file, nor may another value of it overtake on the way there: each access is compared with every place.
//
// With the strap (prompt), data is offered as it arrives, if its value is next. An instruction then does not wait
// for a value that goes into its bank in this cycle: its collector requests the register after that.
`include "gpurf_assert.svh"

module rfc_evictions
  import gpurf_pkg::*;
#(
  parameter int unsigned Slots = 8,
  parameter int unsigned IssuePorts = 1,
  parameter int unsigned Depth = 64,
  localparam int unsigned LocalW = (Slots > 1) ? $clog2(Slots) : 1,
  localparam int unsigned EntryW = $clog2(Depth)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  cfg_i,                       // prompt

  // an eviction begins
  input  logic                  push_valid_i,
  input  logic [LocalW-1:0]     push_slot_i,
  input  logic [WarpW-1:0]      push_warp_i,
  input  logic [EntryW-1:0]     push_base_i,
  input  logic [RegW-1:0]       push_reg_i,
  input  logic [Lanes-1:0]      push_mask_i,
  output logic                  room_o,

  // data of the oldest value that has none yet
  input  logic                  data_valid_i,
  input  logic [DataW-1:0]      data_i,

  // to the write queue of the main register file
  output logic                  offer_valid_o,
  output logic [WarpW-1:0]      offer_warp_o,
  output logic [EntryW-1:0]     offer_base_o,
  output logic [RegW-1:0]       offer_reg_o,
  output logic [Lanes-1:0]      offer_mask_o,
  output logic [DataW-1:0]      offer_data_o,
  input  logic                  offer_ready_i,
  input  logic                  done_i,                      // the oldest value goes into its bank

  // look-ups: the instruction in T, and the results in the latches of the buses
  input  logic [WarpW-1:0]      look_warp_i,
  input  logic [RegW-1:0]       look_reg_i    [Operands],
  output logic [Operands-1:0]   look_match_o,
  input  logic [WarpW-1:0]      result_warp_i [IssuePorts],
  input  logic [RegW-1:0]       result_reg_i  [IssuePorts],
  output logic [IssuePorts-1:0] result_match_o,

  output logic [Slots-1:0]      busy_o                       // a value of the slot has a place
);

  localparam int unsigned Places = 4;
  localparam int unsigned PlaceW = $clog2(Places);
  localparam int unsigned CountW = $clog2(Places + 1);

  logic [PlaceW-1:0] first_q;          // place of the oldest value
  logic [CountW-1:0] count_q;
  logic [CountW-1:0] arrived_q;        // number of values with data; the oldest come first
  logic              sent_q;           // the oldest value is in the write queue
  logic [LocalW-1:0] slot_q  [Places];
  logic [WarpW-1:0]  warp_q  [Places];
  logic [EntryW-1:0] base_q  [Places];
  logic [RegW-1:0]   reg_q   [Places];
  logic [Lanes-1:0]  mask_q  [Places];
  logic [DataW-1:0]  data_q  [Places];

  logic [Places-1:0] used;
  logic [Places-1:0] looked;           // an instruction has to wait for this value
  logic              through;          // data is offered in the cycle in which it arrives
  logic [PlaceW-1:0] push_place;
  logic [PlaceW-1:0] data_place;
  logic [PlaceW-1:0] offer_place;

  // Places is a power of two: dropping upper bits is the modulo.
  assign push_place  = first_q + PlaceW'(count_q);
  assign data_place  = first_q + PlaceW'(arrived_q);
  assign offer_place = first_q + PlaceW'(sent_q);

  assign room_o        = count_q < CountW'(Places);
  assign through       = cfg_i && data_valid_i && arrived_q == CountW'(sent_q);
  assign offer_valid_o = arrived_q > CountW'(sent_q) || through;
  assign offer_warp_o  = warp_q[offer_place];
  assign offer_base_o  = base_q[offer_place];
  assign offer_reg_o   = reg_q[offer_place];
  assign offer_mask_o  = mask_q[offer_place];
  assign offer_data_o  = through ? data_i : data_q[offer_place];

  always_comb begin
    automatic logic [PlaceW-1:0] age;  // number of older values
    busy_o = '0;
    for (int unsigned i = 0; i < Places; i++) begin
      age     = PlaceW'(i) - first_q;
      used[i] = CountW'(age) < count_q;
      looked[i] = used[i] && !(cfg_i && done_i && age == '0);
      if (used[i]) busy_o[slot_q[i]] = 1'b1;
    end
  end

  always_comb begin
    look_match_o   = '0;
    result_match_o = '0;
    if (used != '0) begin
      for (int unsigned i = 0; i < Places; i++) begin
        for (int unsigned k = 0; k < Operands; k++) begin
          if (looked[i] && warp_q[i] == look_warp_i && reg_q[i] == look_reg_i[k]) begin
            look_match_o[k] = 1'b1;
          end
        end
        for (int unsigned p = 0; p < IssuePorts; p++) begin
          if (used[i] && warp_q[i] == result_warp_i[p] && reg_q[i] == result_reg_i[p]) begin
            result_match_o[p] = 1'b1;
          end
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_q   <= '0;
      count_q   <= '0;
      arrived_q <= '0;
      sent_q    <= 1'b0;
    end else begin
      first_q   <= first_q + PlaceW'(done_i);
      count_q   <= count_q + CountW'(push_valid_i) - CountW'(done_i);
      arrived_q <= arrived_q + CountW'(data_valid_i) - CountW'(done_i);
      sent_q    <= sent_q ^ ((offer_valid_o & offer_ready_i) ^ done_i);
    end
  end

  // The values have no reset: they mean nothing outside the places in use.
  always_ff @(posedge clk_i) begin
    if (push_valid_i) begin
      slot_q[push_place] <= push_slot_i;
      warp_q[push_place] <= push_warp_i;
      base_q[push_place] <= push_base_i;
      reg_q[push_place]  <= push_reg_i;
      mask_q[push_place] <= push_mask_i;
    end
  end

  for (genvar i = 0; i < Places; i++) begin : gen_place
    always_ff @(posedge clk_i) begin
      if (data_valid_i && data_place == PlaceW'(i)) data_q[i] <= data_i;
    end
  end

  `GPURF_ASSERT_WHEN(push_has_room, push_valid_i, room_o,
                     "an eviction began for which there is no place")
  `GPURF_ASSERT_WHEN(data_is_missing, data_valid_i, arrived_q < count_q,
                     "data came that no eviction waits for")
  `GPURF_ASSERT_WHEN(done_was_sent, done_i, sent_q,
                     "a value went into its bank that was not sent")
  `GPURF_ASSERT_WHEN(queue_holds_one, offer_valid_o && offer_ready_i, !sent_q || done_i,
                     "a second value went into the write queue")

endmodule
