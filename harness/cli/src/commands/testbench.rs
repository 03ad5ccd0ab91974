//! `gpurf testbench`: SystemVerilog that compares a user's module with the model, through `libgpurf`.

use std::fmt::Write;

use gpurf_blocks::{Declaration, Field, Role};

use super::source;
use crate::args::WriteTestbench;
use crate::failure::{Failure, Status};
use crate::output;
use crate::plan;

/// Number of bits that cross DPI-C in one call.
const CHUNK: usize = 1024;

/// Writes the checker and the driver of a block.
pub fn write(arguments: &WriteTestbench) -> Result<Status, Failure> {
    let config = plan::load(&arguments.selection)?;
    let block = plan::find(&arguments.block)?;
    let declaration = (block.twin)(&config).declaration().clone();
    for port in &arguments.without {
        if !outputs(&declaration).any(|field| field.name == port) {
            let names: Vec<_> = outputs(&declaration).map(|field| field.name).collect();
            let names = names.join(", ");
            return Err(Failure::bad_input(format!("{} has no output {port}; it has: {names}", block.name)));
        }
    }
    // A checker that compares nothing always passes.
    if outputs(&declaration).all(|field| arguments.without.iter().any(|port| port == field.name)) {
        return Err(Failure::bad_input(format!("--without: {} has no other output to compare", block.name)));
    }
    let settings = config.settings().join(" ");
    let mut files = vec![("check", checker(&declaration, &settings, &arguments.without))];
    // The SM runs programs, and has no random inputs.
    if block.name != gpurf_sm::ENTRY.name {
        files.push(("drive", driver(&declaration, &settings)));
    }
    source::make_folder(&arguments.out)?;
    for (kind, text) in files {
        let file = arguments.out.join(format!("gpurf_{kind}_{}.sv", block.name));
        source::write(&file, text.as_bytes())?;
        output::print(&format!("{}\n", file.display()))?;
    }
    Ok(Status::Pass)
}

fn of(declaration: &Declaration, role: Role) -> impl DoubleEndedIterator<Item = &Field> {
    let found = declaration.signals.iter().filter(move |signal| signal.role == role && signal.field.count > 0);
    found.map(|signal| &signal.field)
}

fn outputs(declaration: &Declaration) -> impl DoubleEndedIterator<Item = &Field> {
    of(declaration, Role::Output)
}

/// The packed range of an element, and the unpacked range of the array.
fn dimensions(field: &Field) -> (String, String) {
    let packed = if field.bits > 1 { format!(" [{}:0]", field.bits - 1) } else { String::new() };
    (packed, if field.array { format!(" [{}]", field.count) } else { String::new() })
}

fn port(direction: &str, field: &Field) -> String {
    let (packed, unpacked) = dimensions(field);
    format!("  {direction} logic{packed} {}{unpacked}", field.name)
}

/// Lint rules that do not suit a testbench: it counts in blocking assignments, and a last chunk has unused bits.
const LINTS: &str = "
// verilator lint_off BLKSEQ
// verilator lint_off UNUSEDSIGNAL
// verilator lint_off WIDTHCONCAT
";

/// The heading of a file: a comment that describes it.
fn heading(declaration: &Declaration, what: &str) -> String {
    let parameters: Vec<_> = declaration.parameters.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let shape = if parameters.is_empty() { "no parameters".to_owned() } else { parameters.join(", ") };
    format!(
        "// {what}\n//\n// Written by `gpurf testbench {}` of gpurf {}: {shape}.\n{LINTS}",
        declaration.block,
        env!("CARGO_PKG_VERSION"),
    )
}

/// A concatenation of the elements of fields, with the first one at the lowest bits.
fn concatenation<'a>(fields: impl DoubleEndedIterator<Item = &'a Field>) -> String {
    let mut parts = Vec::new();
    for field in fields.rev().filter(|field| field.bits > 0) {
        if field.array {
            parts.extend((0..field.count).rev().map(|element| format!("{}[{element}]", field.name)));
        } else {
            parts.push(field.name.to_owned());
        }
    }
    let mut text = String::from("{");
    let mut width = 0;
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        if width == 0 || width + part.len() > 90 {
            text.push_str("\n    ");
            width = 0;
        } else {
            text.push(' ');
        }
        text.push_str(part);
        width += part.len() + 2;
    }
    text + "\n  }"
}

fn bits<'a>(fields: impl Iterator<Item = &'a Field>) -> usize {
    fields.map(|field| field.bits as usize * field.count).sum()
}

/// A SystemVerilog string literal.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn checker(declaration: &Declaration, settings: &str, without: &[String]) -> String {
    let block = declaration.block;
    let compared = |field: &&Field| !without.iter().any(|name| name == field.name);
    let ignored = || outputs(declaration).filter(|field| !compared(field));
    let inputs = bits(of(declaration, Role::Input));
    let outputs_bits = bits(outputs(declaration));
    let [input_chunks, output_chunks] = [inputs, outputs_bits].map(|bits| bits.div_ceil(CHUNK).max(1));
    let mut ports = vec!["  input logic clk_i".to_owned()];
    ports.extend(of(declaration, Role::Input).map(|field| port("input", field)));
    ports.extend(outputs(declaration).filter(compared).map(|field| port("input", field)));
    let mut text = heading(
        declaration,
        &format!("Compares the outputs of a module with the ports of {block} with those of the model, in every cycle."),
    );
    if !declaration.clocked {
        text += "// The block has no clock: connect one that rises when the outputs have settled.\n";
    }
    let mut missing = String::new();
    for field in ignored() {
        // Zeros replace an output that is not compared.
        let (packed, unpacked) = dimensions(field);
        let zero = if field.array { "'{default: '0}" } else { "'0" };
        let _ = writeln!(missing, "  wire logic{packed} {}{unpacked} = {zero};", field.name);
    }
    let ignore = |field: &Field| {
        let name = quoted(field.name);
        format!("      if (gpurf_ignore(model, {name}) < 0) $fatal(1, \"%s\", gpurf_error());\n")
    };
    let ignored: String = ignored().map(ignore).collect();
    let _ = write!(
        text,
        "
module gpurf_check_{block}
  import gpurf_dpi::*;
(
{ports}
);

  localparam int unsigned InputChunks  = {input_chunks};  // {inputs} bits
  localparam int unsigned OutputChunks = {output_chunks};  // {outputs_bits} bits

{missing}  bit [{CHUNK}*InputChunks-1:0]  inputs;
  bit [{CHUNK}*OutputChunks-1:0] outputs;
  chandle          model;
  longint unsigned cycles;     // 0 at first
  longint unsigned different;  // cycles

  assign inputs = ({CHUNK}*InputChunks)'({input_list});
  assign outputs = ({CHUNK}*OutputChunks)'({output_list});

  initial begin
    model = gpurf_new({name}, \"\", {settings});
    if (model == null) $fatal(1, \"%s\", gpurf_error());
    else begin
      if (gpurf_input_bits(model) != {inputs} || gpurf_output_bits(model) != {outputs_bits}) begin
        $fatal(1, \"gpurf_check_{block} was written for another version of gpurf than %s\", gpurf_version());
      end
{ignored}    end
  end

  always @(posedge clk_i) begin
    automatic int found;
    for (int unsigned i = 0; i < InputChunks; i++) void'(gpurf_put_input_chunk(model, i, inputs[{CHUNK}*i+:{CHUNK}]));
    for (int unsigned i = 0; i < OutputChunks; i++) void'(gpurf_put_output_chunk(model, i, outputs[{CHUNK}*i+:{CHUNK}]));
    found  = gpurf_check(model);
    cycles = cycles + 1;
    if (found < 0) $fatal(1, \"%s\", gpurf_error());
    if (found > 0) begin
      different = different + 1;
      $error(\"{block} differs from the model\\n%s\", gpurf_report(model));
    end
  end

  final begin
    if (different == 0) $display(\"gpurf: {block}: %0d cycles, equal\", cycles);
    else $display(\"gpurf: {block}: %0d of %0d cycles differ from the model\", different, cycles);
    gpurf_free(model);
  end

endmodule
",
        ports = ports.join(",\n"),
        input_list = concatenation(of(declaration, Role::Input)),
        output_list = concatenation(outputs(declaration)),
        name = quoted(block),
        settings = quoted(settings),
    );
    text
}

fn driver(declaration: &Declaration, settings: &str) -> String {
    let block = declaration.block;
    let inputs = bits(of(declaration, Role::Input));
    let chunks = inputs.div_ceil(CHUNK).max(1);
    let mut ports = vec!["  input logic clk_i".to_owned()];
    ports.extend(of(declaration, Role::Input).map(|field| port("output", field)));
    let mut text = heading(
        declaration,
        &format!(
            "Drives the inputs of {block} with the random ones with which gpurf tests it; the first cycles are reset."
        ),
    );
    let (mut assigns, mut low) = (String::new(), 0);
    for field in of(declaration, Role::Input).filter(|field| field.bits > 0) {
        for element in 0..field.count {
            let place = if field.array { format!("{}[{element}]", field.name) } else { field.name.to_owned() };
            let _ = writeln!(assigns, "  assign {place} = inputs[{low}+:{}];", field.bits);
            low += field.bits as usize;
        }
    }
    let _ = write!(
        text,
        "
module gpurf_drive_{block}
  import gpurf_dpi::*;
#(
  parameter longint unsigned Seed = 1
) (
{ports}
);

  localparam int unsigned Chunks = {chunks};  // {inputs} bits

  bit [{CHUNK}*Chunks-1:0] inputs;  // 0 at first
  bit [{CHUNK}*Chunks-1:0] next;
  bit [{CHUNK}-1:0] part;
  chandle model;

  initial begin
    model = gpurf_new({name}, \"\", {settings});
    if (model == null || gpurf_seed(model, Seed) < 0) $fatal(1, \"%s\", gpurf_error());
  end

  always @(posedge clk_i) begin
    if (gpurf_stimulate(model) < 0) $fatal(1, \"%s\", gpurf_error());
    for (int unsigned i = 0; i < Chunks; i++) begin
      void'(gpurf_get_input_chunk(model, i, part));
      next[{CHUNK}*i+:{CHUNK}] = part;
    end
    inputs <= next;
  end

{assigns}
  final gpurf_free(model);

endmodule
",
        ports = ports.join(",\n"),
        name = quoted(block),
        settings = quoted(settings),
    );
    text
}

#[cfg(test)]
mod tests {
    use gpurf_blocks::config::Config;

    use super::*;

    #[test]
    fn an_output_that_is_left_out_twice_is_declared_once() {
        let declaration = (plan::find("mrf_arbiter").unwrap().twin)(&Config::default()).declaration().clone();
        let name = outputs(&declaration).next().unwrap().name.to_owned();
        let once = checker(&declaration, "", std::slice::from_ref(&name));
        assert!(once.contains(&format!("gpurf_ignore(model, \"{name}\")")));
        assert_eq!(checker(&declaration, "", &[name.clone(), name]), once);
    }
}
