//! A program as a launch manifest: text that people can read and edit, and that everything that takes manifests can run.

use std::collections::BTreeSet;
use std::fmt::Write;

use gpurf_isa::{Instruction, Op, PredicateSource};
use gpurf_launch::Replay;

use super::lower::{BufferKind, FLOAT_WORDS, INPUT_WORDS, Lowered, SUM_BYTES};
use super::tree::{Statement, Window, visit};
use super::{Lowered as Code, Program};

/// The kernel's name.
pub const KERNEL: &str = "program";

impl Program {
    /// The manifest, in TOML. With `replay` it also has the seed and the settings of a run.
    pub fn manifest(&self, replay: Option<&Replay>) -> String {
        self.manifest_of(&self.lower(), replay)
    }

    /// The manifest of a program that is lowered already.
    pub(super) fn manifest_of(&self, lowered: &Lowered, replay: Option<&Replay>) -> String {
        let mut text = String::new();
        self.write(&mut text, lowered, replay).expect("text takes whatever is written");
        text
    }

    fn write(&self, text: &mut String, lowered: &Lowered, replay: Option<&Replay>) -> std::fmt::Result {
        let windows = self.windows();
        let dynamic = self.layout.dynamic.min(lowered.shared);
        writeln!(text, "# A random program of seed {}: {} instructions.\n", self.seed, lowered.code.len())?;
        if let Some(Replay { seed, settings, rtl }) = replay {
            writeln!(text, "[replay]\nseed = {seed}")?;
            writeln!(text, "settings = {}", toml::Value::from(settings.clone()))?;
            if !rtl.is_empty() {
                writeln!(text, "rtl = {}", toml::Value::from(rtl.clone()))?;
            }
            writeln!(text)?;
        }
        writeln!(text, "[[launch]]\nkernel = \"{KERNEL}\"")?;
        writeln!(text, "grid = {:?}\nblock = {:?}", self.grid, self.block)?;
        if dynamic > 0 {
            writeln!(text, "dynamic_shared = {dynamic}")?;
        }
        writeln!(text, "args = [")?;
        for buffer in BufferKind::ALL {
            // A buffer that no instruction uses keeps its place among the parameters.
            match self.uses(&windows, buffer) {
                true => writeln!(text, "    {{ buffer = \"{}\" }},", buffer.name())?,
                false => writeln!(text, "    {{ type = \"u64\", value = 0 }},")?,
            }
        }
        let fetches = self.fetches();
        if fetches || windows.contains(&Window::Constant) {
            for pair in self.constants.chunks(2) {
                let value = u64::from(pair[0]) | u64::from(pair[1]) << 32;
                writeln!(text, "    {{ type = \"u64\", value = {value:#x} }},")?;
            }
        }
        if fetches {
            self.write_handles(text)?;
        }
        writeln!(text, "]\n")?;
        if fetches {
            self.write_textures(text)?;
        }
        for buffer in BufferKind::ALL.into_iter().filter(|buffer| self.uses(&windows, *buffer)) {
            self.write_buffer(text, buffer)?;
        }
        writeln!(text, "[assembly]\nname = \"{KERNEL}\"\nregisters = {}", self.registers)?;
        writeln!(text, "shared = {}\nlocal = {}", lowered.shared - dynamic, lowered.local)?;
        writeln!(text, "code = '''")?;
        write_code(text, lowered)?;
        writeln!(text, "'''")
    }

    fn write_buffer(&self, text: &mut String, buffer: BufferKind) -> std::fmt::Result {
        let random = |salt: u64| {
            let seed = self.seed.wrapping_mul(4).wrapping_add(salt) & i64::MAX as u64;
            format!("{{ random = {{ seed = {seed}, min = 0, max = 4294967295 }} }}")
        };
        let (words, init, output) = match buffer {
            BufferKind::Own => (self.own_buffer_words(), random(0), true),
            BufferKind::Input => (INPUT_WORDS, random(1), false),
            BufferKind::Floats => {
                let values: Vec<String> = self.floats.iter().map(|bits| format!("{bits:#x}")).collect();
                (FLOAT_WORDS, format!("{{ values = [{}] }}", values.join(", ")), false)
            }
            BufferKind::Sums => (SUM_BYTES / 4, random(2), true),
        };
        writeln!(text, "[[buffer]]\nname = \"{}\"\ntype = \"u32\"\nlen = {words}", buffer.name())?;
        writeln!(text, "init = {init}")?;
        if let Some(address) = self.addresses[buffer as usize] {
            writeln!(text, "address = {address:#x}")?;
        }
        if output {
            writeln!(text, "output = true")?;
        }
        writeln!(text)
    }

    /// The windows that accesses go to.
    fn windows(&self) -> BTreeSet<Window> {
        let mut windows = BTreeSet::new();
        visit(&self.body, &mut |statement| {
            if let Statement::Access(access) = statement {
                windows.insert(access.place.window);
                windows.extend(access.other.map(|(place, _)| place.window));
            }
        });
        windows
    }

    fn uses(&self, windows: &BTreeSet<Window>, buffer: BufferKind) -> bool {
        let interleaved = self.layout.interleaved;
        match buffer {
            BufferKind::Own if interleaved => windows.contains(&Window::Own) || windows.contains(&Window::Sums),
            BufferKind::Own => windows.contains(&Window::Own),
            BufferKind::Input => windows.contains(&Window::Input),
            BufferKind::Floats => windows.contains(&Window::Floats),
            BufferKind::Sums => !interleaved && windows.contains(&Window::Sums),
        }
    }
}

/// The instructions, with labels in place of numbers.
fn write_code(text: &mut String, lowered: &Code) -> std::fmt::Result {
    let mut labels = BTreeSet::new();
    for instruction in &lowered.code {
        labels.extend([instruction.target(), instruction.reconvergence].into_iter().flatten().map(|pc| pc.number()));
    }
    let mut notes = lowered.notes.iter().peekable();
    for (index, instruction) in lowered.code.iter().enumerate() {
        if labels.contains(&(index as u32)) {
            writeln!(text, "L{index}:")?;
        }
        while let Some((_, note)) = notes.next_if(|(at, _)| *at <= index) {
            writeln!(text, "    // {note}")?;
        }
        writeln!(text, "    {}", line(instruction))?;
    }
    Ok(())
}

/// The text of an instruction; a branch has labels.
fn line(instruction: &Instruction) -> String {
    let (Op::Bra {}, Some(target)) = (instruction.op, instruction.target()) else {
        return instruction.to_string();
    };
    let guard = match instruction.guard {
        PredicateSource::TRUE => String::new(),
        guard => format!("@{guard} "),
    };
    let join = instruction.reconvergence.map_or("none".to_owned(), |pc| format!("L{pc}"));
    let control = match instruction.control.to_string() {
        fields if fields.is_empty() => fields,
        fields => format!(" {{{fields}}}"),
    };
    format!("{guard}BRA L{target}, join {join}{control}")
}
