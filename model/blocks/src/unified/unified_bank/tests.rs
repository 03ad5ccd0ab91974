use super::*;
use crate::Ports;
use crate::testing::{Driver, UNIFIED_SHAPES, compare};

/// Bytes of each cluster's RAM, by entry.
struct Reference {
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
        let mut data = WarpData::ZERO;
        for lane in 0..32 {
            data.0[lane] = u32::from_le_bytes(std::array::from_fn(|byte| self.outputs[lane / 4][lane % 4 * 4 + byte]));
        }
        let written = |g: usize| i.write_valid_i == 1 && i.write_mask_i >> (4 * g) & 0xf != 0;
        let out = UnifiedBankOut {
            read_data_o: data,
            read_data_valid_o: self.valid,
            memory_read_ready_o: 1 - i.read_valid_i,
            memory_write_ready_o: (0..CLUSTERS).fold(0, |set, g| set | u8::from(!written(g)) << g),
        };
        for g in 0..CLUSTERS {
            let ram = &mut self.rams[g];
            let old = ram.clone();
            if i.read_valid_i == 1 {
                self.outputs[g] = old[usize::from(i.read_entry_i)];
            } else if i.memory_read_i >> g & 1 == 1 {
                self.outputs[g] = old[usize::from(i.memory_read_entry_i[g])];
            }
            let (new, of_memory) = (bytes_of(&i.write_data_i, g), bytes_of(&i.memory_write_data_i, g));
            for byte in 0..CLUSTER_BYTES {
                if written(g) {
                    if i.write_mask_i >> (4 * g + byte / 4) & 1 == 1 {
                        ram[usize::from(i.write_entry_i)][byte] = new[byte];
                    }
                } else if i.memory_write_i >> g & 1 == 1 && i.memory_write_bytes_i[g] >> byte & 1 == 1 {
                    ram[usize::from(i.memory_write_entry_i[g])][byte] = of_memory[byte];
                }
            }
        }
        self.valid = i.read_valid_i & i.rst_ni;
        out
    }
}

#[test]
fn it_does_what_the_page_says_access_by_access() {
    let shape = UNIFIED_SHAPES[0].mrf;
    let rams = vec![vec![[0; CLUSTER_BYTES]; shape.depth]; CLUSTERS];
    let mut reference = Reference { rams, outputs: vec![[0; CLUSTER_BYTES]; CLUSTERS], valid: 0 };
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

#[test]
fn a_cluster_is_written_if_one_of_its_lanes_is() {
    for lane in 0..32 {
        assert_eq!(clusters_of(LaneMask(1 << lane)), 1 << (lane / 4));
    }
    assert_eq!([0, 0x0100_0030, u32::MAX].map(|mask| clusters_of(LaneMask(mask))), [0, 0b100_0010, 0xff]);
}
