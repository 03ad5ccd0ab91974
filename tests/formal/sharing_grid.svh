// A grid with hosts and guests, and the launcher that puts its blocks into slots. Included in the module.
//
// The module has the inputs wide_i, hosts_i, guests_i, place_i and place_slot_i, and assigns `ended`. Blocks begin
// warp by warp: of the slot that is starting, `begins` is the warp that begins at the next edge.

  logic                  started_q = 1'b0;
  logic [2:0]            wide_q;       // warps of a block
  logic [2:0]            hosts_q;
  logic [2:0]            slots_q;
  logic [BlockSlots-1:0] busy_q;
  logic [BlockSlots-1:0] young_q;
  logic                  starting_q;
  logic [SlotW-1:0]      start_slot_q;
  logic                  start_index_q;

  logic [2:0]            hosts, guests;
  logic [BlockSlots-1:0] has_partner;
  logic [SlotW-1:0]      slot_partner [BlockSlots];
  logic [SlotW-1:0]      slot         [Warps];
  logic [BlockSlotW-1:0] slot_port    [Warps];
  logic [Warps-1:0]      exists;
  logic [Warps-1:0]      paired;       // its slot has a partner
  logic [Warps-1:0]      begun;
  logic [Warps-1:0]      begins;
  logic [Warps-1:0]      ended;        // it has no lane left, and nothing in flight
  logic [BlockSlots-1:0] finished;
  logic                  place;
  logic                  grid_fits;

  assign hosts  = wide_i ? 3'd1 : 3'd1 + 3'(hosts_i);
  assign guests = (3'(guests_i) > hosts) ? hosts : 3'(guests_i);

  always_comb begin
    for (int unsigned s = 0; s < BlockSlots; s++) begin
      if (3'(s) < hosts_q) begin
        slot_partner[s] = SlotW'(3'(s) + hosts_q);
        has_partner[s]  = 3'(s) + hosts_q < slots_q;
      end else begin
        slot_partner[s] = SlotW'(3'(s) - hosts_q);
        has_partner[s]  = 3'(s) < slots_q;
      end
    end
    for (int unsigned w = 0; w < Warps; w++) begin
      slot[w]      = (wide_q == 3'd2) ? SlotW'(w / 2) : SlotW'(w);
      exists[w]    = 3'(slot[w]) < slots_q;
      slot_port[w] = exists[w] ? BlockSlotW'(slot[w]) : '0;
      paired[w]    = exists[w] && has_partner[slot[w]];
      begun[w]     = exists[w] && busy_q[slot[w]] &&
                     !(starting_q && start_slot_q == slot[w] &&
                       (wide_q == 3'd1 || 1'(w) >= start_index_q));
      begins[w]    = exists[w] && start_slot_q == slot[w] && (wide_q == 3'd1 || 1'(w) == start_index_q);
    end
  end

  always_comb begin
    finished = '1;
    for (int unsigned w = 0; w < Warps; w++) begin
      if (exists[w] && !ended[w]) finished[slot[w]] = 1'b0;
    end
    if (starting_q) finished[start_slot_q] = 1'b0;
  end

  assign place = started_q && place_i && !starting_q && 3'(place_slot_i) < slots_q && !busy_q[place_slot_i];

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (!started_q) begin
      wide_q        <= wide_i ? 3'd2 : 3'd1;
      hosts_q       <= hosts;
      slots_q       <= hosts + guests;
      busy_q        <= '0;
      young_q       <= '0;
      starting_q    <= 1'b0;
      start_slot_q  <= '0;
      start_index_q <= 1'b0;
    end else begin
      busy_q <= busy_q & ~finished;
      if (place) begin
        busy_q[place_slot_i]  <= 1'b1;
        young_q[place_slot_i] <= has_partner[place_slot_i];
        if (has_partner[place_slot_i]) young_q[slot_partner[place_slot_i]] <= 1'b0;
        starting_q            <= 1'b1;
        start_slot_q          <= place_slot_i;
        start_index_q         <= 1'b0;
      end
      if (starting_q) begin
        start_index_q <= 1'b1;
        if (wide_q == 3'd1 || start_index_q) starting_q <= 1'b0;
      end
    end
  end

  // The states that the grid can have. It is proved, and the proofs by induction begin with it.
  always_comb begin
    grid_fits = (wide_q == 3'd1 || wide_q == 3'd2) && hosts_q != '0 && slots_q >= hosts_q &&
                slots_q <= 3'd2 * 3'(hosts_q) && 32'(slots_q) * 32'(wide_q) <= Warps &&
                (!starting_q || (busy_q[start_slot_q] && (wide_q == 3'd2 || !start_index_q)));
    for (int unsigned s = 0; s < BlockSlots; s++) begin
      if (busy_q[s] && 3'(s) >= slots_q) grid_fits = 1'b0;
      if (young_q[s] && !has_partner[s]) grid_fits = 1'b0;
      if (has_partner[s] && busy_q[s] && busy_q[slot_partner[s]]) begin
        if (young_q[s] == young_q[slot_partner[s]]) grid_fits = 1'b0;
        if (starting_q && start_slot_q == SlotW'(s) && !young_q[s]) grid_fits = 1'b0;
      end
    end
  end
