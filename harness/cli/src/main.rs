//! The gpurf program: checks register-file RTL against its reference model, clock by clock.
//!
//! The program itself contains little logic: it translates the command line into jobs (`plan`), has them run (`gpurf-regress`), and shows the results
//! as a table or as one JSON object. Every mistake of a user ends in a sentence and one of five exit statuses (`failure`).

mod args;
mod commands;
mod failure;
mod file_list;
mod files;
mod interrupt;
mod output;
mod own_rtl;
mod plan;
mod progress;
mod result;
mod shape;

use std::panic::catch_unwind;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use clap_complete::Shell;

use args::{Cli, Command, Golden};
use failure::{Failure, Status};
use result::Refusal;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let (name, json) = match &cli.command {
        Command::Blocks(a) => ("blocks", a.json),
        Command::Presets(a) => ("presets", a.json),
        Command::Cosim(a) => ("cosim", a.run.json),
        Command::Run(a) => ("run", a.json),
        Command::Compare(a) => ("compare", a.run.json),
        Command::Exec(_) => ("exec", false),
        Command::Program(_) => ("program", false),
        Command::Testbench(_) => ("testbench", false),
        Command::Compile(a) => ("compile", a.json),
        Command::Wave(_) => ("wave", false),
        Command::Mutate(a) => ("mutate", a.run.json),
        Command::Audit(a) => ("audit", a.run.json),
        Command::Golden(Golden::Check(a)) => ("golden check", a.which.run.json),
        Command::Golden(Golden::Bless(a)) => ("golden bless", a.which.run.json),
        Command::Golden(Golden::Trace(_)) => ("golden trace", false),
        Command::Regress(a) => ("regress", a.run.json),
        Command::Bench(a) => ("bench", a.json),
        Command::Report(a) => ("report", a.run.json),
        Command::Completions { .. } => ("completions", false),
    };
    // A panic, which is a defect of the program, also ends in a sentence and a documented status.
    let outcome =
        catch_unwind(|| run(&cli.command, json).map_err(|failure| failure.or_interrupted(interrupt::requested_by_now)));
    let defect = || Failure::tool("gpurf itself failed: this is a defect; please report it with the lines above");
    let status = outcome.unwrap_or_else(|_| Err(defect())).unwrap_or_else(|failure| {
        if json {
            // If standard output itself fails, the error cannot be reported there.
            let _ = output::print(&result::json(&Refusal::new(name, failure.status, &failure.message)));
        }
        output::error(&failure.message);
        failure.status
    });
    status.into()
}

fn run(command: &Command, json: bool) -> Result<Status, Failure> {
    if json {
        // Nothing that RTL writes to standard output may come before the object.
        output::claim()?;
    }
    match command {
        Command::Blocks(arguments) => commands::list::blocks(arguments),
        Command::Presets(arguments) => commands::list::presets(arguments),
        Command::Cosim(arguments) => commands::cosim::cosim(arguments),
        Command::Run(arguments) => commands::run::run(arguments),
        Command::Compare(arguments) => commands::compare::compare(arguments),
        Command::Exec(arguments) => commands::exec::exec(arguments),
        Command::Program(arguments) => commands::program::write(arguments),
        Command::Testbench(arguments) => commands::testbench::write(arguments),
        Command::Compile(arguments) => commands::compile::compile(arguments),
        Command::Wave(arguments) => commands::wave::wave(arguments),
        Command::Mutate(arguments) => commands::mutate::mutate(arguments),
        Command::Audit(arguments) => commands::audit::audit(arguments),
        Command::Golden(action) => commands::golden::golden(action),
        Command::Regress(arguments) => commands::regress::regress(arguments),
        Command::Bench(arguments) => commands::bench::bench(arguments),
        Command::Report(arguments) => commands::report::report(arguments),
        Command::Completions { shell } => {
            output::print(&completions(*shell))?;
            Ok(Status::Pass)
        }
    }
}

/// The completions of a shell. Some of `clap_complete`'s offer hidden options too, so these are left out before.
fn completions(shell: Shell) -> String {
    fn without_hidden(command: &clap::Command) -> clap::Command {
        let name: &'static str = command.get_name().to_owned().leak();
        clap::Command::new(name)
            .disable_help_subcommand(true)
            .about(command.get_about().cloned().unwrap_or_default())
            .args(command.get_arguments().filter(|argument| !argument.is_hide_set()).cloned())
            .subcommands(command.get_subcommands().map(without_hidden))
    }
    let mut script = Vec::new();
    let mut command = without_hidden(&Cli::command()).version(env!("CARGO_PKG_VERSION"));
    clap_complete::generate(shell, &mut command, "gpurf", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn completions_offer_every_option_but_the_hidden_ones() {
        for shell in Shell::value_variants() {
            let script = completions(*shell);
            assert!(script.contains("resume") && script.contains("golden"), "{shell}");
            assert!(!script.contains("worker"), "{shell}");
        }
    }
}
