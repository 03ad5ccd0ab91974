//! Registers that are switched off lose their values, in the same way on both sides (`docs/power.md`, "An environment that exposes wrong marks").
//!
//! In a real register file a register that is OFF loses its value. Neither the RTL nor the model does this: their cells keep their contents. So the
//! words of registers that have gone OFF get random values. If a mark switches off a register that some lane still reads, the result is wrong,
//! and the oracle detects it.

use gpurf_blocks::Block;
use gpurf_blocks::config::Config;
use gpurf_blocks::designs::Organisation;
use gpurf_blocks::mrf::MrfShape;
use gpurf_blocks::mrf::bits::set_bits;
use gpurf_blocks::share::{RegisterLayout, RegisterPlaces};
use gpurf_blocks::sizes::MAX_WARPS;
use gpurf_lockstep::LostWord;
use gpurf_sm::SmProbe;

/// Number of 64-register elements of each warp in the words with the states.
const WORDS: usize = 4;

/// Tracks which registers have gone OFF, and the locations of their words.
#[derive(Clone)]
pub struct Lost {
    shape: MrfShape,
    /// Places of the registers, if they are allocated one by one.
    places: Option<RegisterPlaces>,
    warps: usize,
    organisation: Organisation,
    /// Indices of the banks' memories in the twin's list of memories.
    banks: Vec<usize>,
    /// Registers that were OFF in the cycle before.
    off: [u64; WORDS * MAX_WARPS],
    words: Vec<LostWord>,
    /// Number of words lost so far: each gets a different random value.
    count: u64,
}

impl Lost {
    /// A tracker for an SM whose memories have these paths. `None`: the configuration has no power states.
    pub fn new<'a>(config: &Config, paths: impl Iterator<Item = &'a str>) -> Option<Self> {
        if !config.power.present {
            return None;
        }
        let shape = config.sm_shape();
        let mut banks = vec![None; shape.mrf.banks];
        for (index, path) in paths.enumerate() {
            if let Some(bank) = bank_of(path) {
                banks[bank] = Some(index);
            }
        }
        let banks = banks.into_iter().map(|bank| bank.expect("each bank of the main register file is a memory"));
        Some(Self {
            shape: shape.mrf,
            places: shape.places().then(|| RegisterPlaces::new(&shape.mrf)),
            warps: shape.warps,
            organisation: shape.organisation,
            banks: banks.collect(),
            off: [u64::MAX; WORDS * MAX_WARPS],
            words: Vec::new(),
            count: 0,
        })
    }

    /// The words of the registers that have gone OFF before this cycle.
    pub fn observe(&mut self, probe: &SmProbe) -> &[LostWord] {
        self.words.clear();
        let states = &probe.states.power_states;
        let kept = self.organisation.word_states(&probe.states.operand_stage.provider);
        let launcher = &probe.outputs.block_launcher;
        let (rows, layout) = (usize::from(launcher.rows_o), RegisterLayout(launcher.layout_o));
        for element in 0..WORDS * self.warps {
            let off = match kept {
                Some(kept) => kept.off[element],
                None => states.off_q[element] & !states.pending_q[element],
            };
            let gone = off & !self.off[element];
            self.off[element] = off;
            for bit in set_bits(gone) {
                self.lose(element / WORDS, element % WORDS * 64 + bit, rows, layout);
            }
        }
        &self.words
    }

    /// Loses register `register` of warp `w`; the mapping is that of `mrf_bank_map` in the rows that the launcher gives a warp or of `register_places`.
    fn lose(&mut self, w: usize, register: usize, rows: usize, layout: RegisterLayout) {
        let banks = self.shape.banks;
        let place = match &self.places {
            Some(places) => (register < usize::from(layout.registers())).then(|| {
                let (bank, word) = places.map(layout, w as u8, register as u8);
                (usize::from(bank), usize::from(word))
            }),
            None => (register / banks < rows).then(|| ((register + w) % banks, w * rows + register / banks)),
        };
        if let Some((bank, word)) = place {
            self.count += 1;
            self.words.push(LostWord { memory: self.banks[bank], word, seed: self.count });
        }
    }
}

/// The bank of the main register file whose RAM cell has this path, whatever path precedes that of the file.
fn bank_of(path: &str) -> Option<usize> {
    let (_, inside) = path.strip_prefix("u_operand_stage.")?.split_once(".gen_bank[")?;
    let (number, rest) = inside.split_once(']')?;
    rest.ends_with(".u_ram.mem_q").then(|| number.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn banks_are_found_by_their_paths() {
        let path =
            |bank: usize| format!("u_operand_stage.gen_mrf.u_provider.gen_bank[{bank}].u_bank.gen_1rw.u_ram.mem_q");
        assert_eq!([bank_of(&path(0)), bank_of(&path(31))], [Some(0), Some(31)]);
        assert_eq!(bank_of(&path(7).replace("u_provider", "u_provider.u_mrf")), Some(7), "behind levels above it");
        assert_eq!(bank_of(&path(7).replace("gen_bank", "gen_entry")), None);
        assert_eq!(bank_of("u_fetch.u_ram.mem_q"), None);
        assert_eq!(bank_of(&path(3).replace("mem_q", "rdata_q")), None);
    }
}
