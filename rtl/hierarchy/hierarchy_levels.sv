// Decodes in which level each operand of an instruction is.
//
// Decodes the level fields of an instruction for a machine with these numbers of ORF entries and
// LRF banks (docs/isa.md, "level"). A level that names a place which the machine does not
// have is the main register file (MRF): every register has its place there.
module hierarchy_levels
  import gpurf_pkg::*;
#(
  parameter int unsigned Entries = 3,
  parameter int unsigned LrfBanks = 0,
  localparam int unsigned PortW = 2
) (
  input  logic                 valid_i,
  input  logic [Operands-1:0]  src_valid_i,
  input  logic [LevelW-1:0]    src_level_i [Operands],
  input  logic [RegW-1:0]      dst_i,
  input  logic [LevelW-1:0]    dst_level_i,
  input  logic                 long_i,                  // the result has a long latency

  // sources
  output logic [Operands-1:0]  mrf_o,
  output logic [Operands-1:0]  orf_o,
  output logic [Operands-1:0]  lrf_o,
  output logic [Operands-1:0]  copy_o,                  // the source is read from the MRF and copied to the ORF
  output logic [OrfW-1:0]      entry_o     [Operands],  // entry of the ORF: read, or copied to
  output logic [PortW-1:0]     port_o      [Operands],  // read port of the ORF that serves the source
  output logic [Operands-1:0]  orf_read_o,              // read ports of the ORF that read
  output logic [LrfPlaces-1:0] lrf_read_o,              // banks of the LRF that are read

  // places
  output logic [Upper-1:0]     read_place_o,
  output logic [Upper-1:0]     copy_place_o,
  output logic [Upper-1:0]     result_place_o,
  output logic                 both_o                   // the result goes to the MRF too
);

  localparam int unsigned Numbers = 2**UpperW;
  // Places that exist in this machine.
  localparam logic [Upper-1:0] There =
      Upper'((2**Entries - 1) | ((2**LrfBanks - 1) << OrfPlaces));

  logic [Upper-1:0] source [Operands];  // the place that a source's level names, if it exists

  // The place that a level's number names, if it exists: number n names place n - 1.
  function automatic logic [Upper-1:0] place_of(logic [UpperW-1:0] number);
    return Upper'((Numbers'(1) << number) >> 1) & There;
  endfunction

  // ------------------------------------------------------------------ the result
  always_comb begin
    result_place_o = '0;
    if (valid_i && dst_i != NoReg && !long_i) result_place_o = place_of(dst_level_i[UpperW-1:0]);
    both_o = result_place_o != '0 && dst_level_i[LevelW-1];
  end

  // ------------------------------------------------------------------ sources
  always_comb begin
    for (int unsigned k = 0; k < Operands; k++) begin
      source[k] = '0;
      if (valid_i && src_valid_i[k]) source[k] = place_of(src_level_i[k][UpperW-1:0]);
    end
  end

  always_comb begin
    read_place_o = '0;
    copy_place_o = '0;
    for (int unsigned k = 0; k < Operands; k++) begin
      orf_o[k]   = ~src_level_i[k][LevelW-1] & (|source[k][OrfPlaces-1:0]);
      lrf_o[k]   = ~src_level_i[k][LevelW-1] & (|source[k][Upper-1:OrfPlaces]);
      mrf_o[k]   = valid_i & src_valid_i[k] & ~orf_o[k] & ~lrf_o[k];
      // Two copies to one entry become one. A copy to the entry of the result is dropped: the result stays in it.
      copy_o[k]  = src_level_i[k][LevelW-1] && source[k][OrfPlaces-1:0] != '0 &&
                   (source[k] & (result_place_o | copy_place_o)) == '0;
      entry_o[k] = (orf_o[k] | copy_o[k]) ? OrfW'(src_level_i[k] - 1'b1) : '0;
      if (orf_o[k] || lrf_o[k]) read_place_o = read_place_o | source[k];
      if (copy_o[k])            copy_place_o = copy_place_o | source[k];
    end
  end

  // An entry that several sources name is read once.
  always_comb begin
    for (int unsigned k = 0; k < Operands; k++) begin
      port_o[k] = '0;
      if (orf_o[k]) begin
        port_o[k] = PortW'(k);
        for (int unsigned j = k; j > 0; j--) begin
          if (orf_o[j-1] && entry_o[j-1] == entry_o[k]) port_o[k] = PortW'(j - 1);
        end
      end
      orf_read_o[k] = orf_o[k] && port_o[k] == PortW'(k);
    end
  end

  // A split LRF has a bank for each source, a unified one has a bank for all.
  if (LrfBanks <= 1) begin : gen_unified
    assign lrf_read_o = LrfPlaces'(|lrf_o);
  end else begin : gen_split
    assign lrf_read_o = lrf_o;
  end

endmodule
