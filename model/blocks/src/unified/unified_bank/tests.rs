use super::*;
use crate::Ports;
use crate::testing::{Driver, UNIFIED_SHAPES, compare};

/// Bytes of each RAM, by entry: those of registers, and after them those of memory, which may be the same.
struct Reference {
    separate: bool,
    rams: Vec<Vec<[u8; CLUSTER_BYTES]>>,
    outputs: Vec<[u8; CLUSTER_BYTES]>,
    valid: u8,
}

/// The bytes of a cluster in a port of 1024 bits.
fn bytes_of(data: &WarpData, cluster: usize) -> [u8; CLUSTER_BYTES] {
    std::array::from_fn(|byte| data.0[4 * cluster + byte / 4].to_le_bytes()[byte % 4])
}

impl Reference {
    fn cycle(&mut self, i: &UnifiedBankIn) -> UnifiedBankOut {
        let own = if self.separate { CLUSTERS } else { 0 };
        let lane_of = |first: usize, lane: usize| {
            u32::from_le_bytes(std::array::from_fn(|byte| self.outputs[first + lane / 4][lane % 4 * 4 + byte]))
        };
        let data = |first: usize| WarpData(std::array::from_fn(|lane| lane_of(first, lane)));
        let written = |g: usize| i.write_valid_i == 1 && i.write_mask_i >> (4 * g) & 0xf != 0;
        let out = UnifiedBankOut {
            read_data_o: data(0),
            memory_data_o: data(own),
            read_data_valid_o: self.valid,
            memory_read_ready_o: if self.separate { 1 } else { 1 - i.read_valid_i },
            memory_write_ready_o: (0..CLUSTERS).fold(0, |set, g| set | u8::from(self.separate || !written(g)) << g),
        };
        for g in 0..CLUSTERS {
            let old = self.rams.clone();
            let running = i.rst_ni == 1;
            if i.read_valid_i == 1 && running {
                self.outputs[g] = old[g][usize::from(i.read_entry_i)];
            }
            if i.memory_read_i >> g & 1 == 1 && out.memory_read_ready_o == 1 && running {
                self.outputs[own + g] = old[own + g][usize::from(i.memory_read_entry_i[g])];
            }
            let (new, of_memory) = (bytes_of(&i.write_data_i, g), bytes_of(&i.memory_write_data_i, g));
            for byte in 0..CLUSTER_BYTES {
                if i.write_valid_i == 1 && i.write_mask_i >> (4 * g + byte / 4) & 1 == 1 {
                    self.rams[g][usize::from(i.write_entry_i)][byte] = new[byte];
                }
                let ready = out.memory_write_ready_o >> g & 1 == 1;
                if ready && i.memory_write_i >> g & 1 == 1 && i.memory_write_bytes_i[g] >> byte & 1 == 1 {
                    self.rams[own + g][usize::from(i.memory_write_entry_i[g])][byte] = of_memory[byte];
                }
            }
        }
        self.valid = i.read_valid_i & i.rst_ni;
        out
    }
}

#[test]
fn it_does_what_the_page_says_access_by_access() {
    for separate in [false, true] {
        accesses(MrfShape { separate, ..UNIFIED_SHAPES[0].mrf });
    }
}

fn accesses(shape: MrfShape) {
    let rams = vec![vec![[0; CLUSTER_BYTES]; shape.depth]; 2 * CLUSTERS];
    let outputs = vec![[0; CLUSTER_BYTES]; 2 * CLUSTERS];
    let mut reference = Reference { separate: shape.separate, rams, outputs, valid: 0 };
    compare::<UnifiedBank>(
        &shape,
        10_000,
        |random, i| {
            i.rst_ni = (!random.chance(3)).into();
            // Few entries, so that accesses meet; the last one is among them.
            let mut entry = || [0, 1, 2, shape.depth as u16 - 1][random.below(4)];
            (i.read_entry_i, i.write_entry_i) = (entry(), entry());
            i.memory_read_entry_i.iter_mut().chain(&mut i.memory_write_entry_i).for_each(|place| *place = entry());
            i.read_valid_i &= u8::from(random.chance(50));
            // Whole clusters without a lane.
            i.write_mask_i &= [u32::MAX, 0x00f0_ff00, 0x1111_0000, 0][random.below(4)];
        },
        |i| (reference.cycle(i), NoProbe::zeroed()),
    );
}

#[test]
fn what_memory_reads_stays_while_other_clusters_are_read() {
    let mut bank = Driver::<UnifiedBank>::new(&UNIFIED_SHAPES[1].mrf);
    let inputs = &mut bank.inputs;
    (inputs.write_valid_i, inputs.write_entry_i, inputs.write_mask_i) = (1, 767, u32::MAX);
    inputs.write_data_i = WarpData(std::array::from_fn(|lane| lane as u32));
    bank.cycle();
    bank.inputs.write_valid_i = 0;
    (bank.inputs.memory_read_i, bank.inputs.memory_read_entry_i[2]) = (0b100, 767);
    bank.cycle();
    (bank.inputs.memory_read_i, bank.inputs.memory_read_entry_i[7]) = (0b1000_0000, 767);
    let out = bank.cycle();
    assert_eq!((out.read_data_valid_o, out.read_data_o.0[7..13].to_vec()), (0, vec![0, 8, 9, 10, 11, 0]));
    bank.inputs.memory_read_i = 0;
    let out = bank.cycle();
    assert_eq!((out.read_data_o.0[8], out.read_data_o.0[31]), (8, 31));
}

#[test]
fn each_cluster_is_a_ram_of_words_of_sixteen_bytes() {
    let mut bank = UnifiedBank::new(&UNIFIED_SHAPES[0].mrf);
    let data = WarpData(std::array::from_fn(|lane| lane as u32));
    let nothing = ColumnAccess {
        read: 0,
        read_entry: &[0; CLUSTERS],
        write: 0,
        write_entry: &[0; CLUSTERS],
        write_bytes: &[0; CLUSTERS],
        write_data: &data,
    };
    bank.edge(None, Some((95, &data, LaneMask::ALL)), &nothing);
    bank.edge(Some(95), None, &nothing);
    let memories = bank.memories();
    assert_eq!(memories.len(), 2 * CLUSTERS);
    let (words, output) = (&memories[6], &memories[7]);
    assert_eq!((words.path.as_str(), words.bits, words.len()), ("gen_cluster[3].u_ram.mem_q", 128, 96));
    assert_eq!((output.path.as_str(), output.len()), ("gen_cluster[3].u_ram.rdata_q", 1));
    assert_eq!((&words.words[4 * 95..], &output.words[..]), (&[12, 13, 14, 15][..], &[12, 13, 14, 15][..]));
}

/// One entry, at one edge.
#[test]
fn registers_and_memory_with_ports_of_their_own_do_not_meet() {
    let mut bank = Driver::<UnifiedBank>::new(&MrfShape { separate: true, ..UNIFIED_SHAPES[0].mrf });
    let inputs = &mut bank.inputs;
    inputs.rst_ni = 1;
    (inputs.write_valid_i, inputs.write_entry_i, inputs.write_mask_i) = (1, 3, u32::MAX);
    (inputs.memory_write_i, inputs.memory_write_entry_i) = (0b1, [3; CLUSTERS]);
    inputs.memory_write_bytes_i = [u16::MAX; CLUSTERS];
    (inputs.write_data_i, inputs.memory_write_data_i) = (WarpData([1; 32]), WarpData([2; 32]));
    let out = bank.cycle();
    assert_eq!((out.memory_read_ready_o, out.memory_write_ready_o), (1, 0xff));
    let inputs = &mut bank.inputs;
    (inputs.write_valid_i, inputs.memory_write_i) = (0, 0);
    (inputs.read_valid_i, inputs.read_entry_i) = (1, 3);
    (inputs.memory_read_i, inputs.memory_read_entry_i) = (0b1, [3; CLUSTERS]);
    assert_eq!(bank.cycle().memory_read_ready_o, 1);
    let out = bank.cycle();
    assert_eq!((out.read_data_o.0[..5].to_vec(), out.memory_data_o.0[..5].to_vec()), (vec![1; 5], vec![2, 2, 2, 2, 0]));
    let memories = bank.block.memories();
    assert_eq!(memories.len(), 4 * CLUSTERS);
    assert_eq!(memories[2 * CLUSTERS].path, "gen_cluster[0].gen_separate.u_memory.mem_q");
}

#[test]
fn a_cluster_is_written_if_one_of_its_lanes_is() {
    for lane in 0..32 {
        assert_eq!(clusters_of(LaneMask(1 << lane)), 1 << (lane / 4));
    }
    assert_eq!([0, 0x0100_0030, u32::MAX].map(|mask| clusters_of(LaneMask(mask))), [0, 0b100_0010, 0xff]);
}
