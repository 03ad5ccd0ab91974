//! Arguments that the command line accepts and refuses.

use super::*;
use clap::CommandFactory;

#[test]
fn the_command_line_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn numbers_may_be_hexadecimal_and_grouped() {
    assert_eq!(number("1_000_000"), Ok(1_000_000));
    assert_eq!(number("0xff"), Ok(255));
    for text in ["", "-1", "1.5", "0x", "18446744073709551616"] {
        assert!(number(text).is_err(), "{text}");
    }
    assert!(cycles("0").is_err());
}

/// The whole suite runs some blocks 8 times as long as others.
#[test]
fn cycles_can_be_multiplied() {
    assert_eq!(cycles("1_000_000_000_000_000"), Ok(LONGEST_RUN));
    assert!(LONGEST_RUN.checked_mul(1000).is_some());
    for text in ["1_000_000_000_000_001", "0x2000000000000000"] {
        assert_eq!(cycles(text), Err("expected at most 1000000000000000 cycles".into()));
    }
}

#[test]
fn kernels_and_programs_have_a_length_of_their_own() {
    for work in [["--kernel", "k.toml"], ["--programs", "3"]] {
        let arguments = ["gpurf", "cosim", "--cycles", "9", work[0], work[1]];
        let error = Cli::try_parse_from(arguments).unwrap_err().to_string();
        assert!(error.contains("'--cycles <N>' cannot be used with"), "{error}");
    }
}

#[test]
fn negative_numbers_are_answered_with_the_range() {
    for (arguments, words) in [
        (&["run", "k.toml", "--registers", "-1"][..], "expected a number from 16 to 255"),
        (&["run", "k.toml", "--registers", "15"], "expected a number from 16 to 255"),
        (&["run", "k.toml", "--threads", "-1"], "expected a number from 1 to 65535"),
        (&["mutate", "--count", "-1"], "expected a number from 0 to"),
        (&["cosim", "--jobs", "0"], "expected a number from 1 to 65535"),
        (&["cosim", "--programs", "-1"], "expected a number from 1 to 1000000"),
        (&["bench", "--time", "-1"], "expected a number of seconds"),
        (&["regress", "--cycles", "-1"], "expected a number from 0"),
    ] {
        let error = Cli::try_parse_from([&["gpurf"], arguments].concat()).unwrap_err().to_string();
        assert!(error.contains(words), "{arguments:?}: {error}");
    }
}

#[test]
fn a_knob_needs_name_and_number() {
    assert_eq!(knob("only=0x32"), Ok(("only".into(), 0x32)));
    for text in ["only", "=1", "only=", "only=often", "only=0x100000000"] {
        assert!(knob(text).is_err(), "{text}");
    }
}

#[test]
fn a_window_has_two_cycles_in_order() {
    assert_eq!(window("10:0x20"), Ok(10..=32));
    assert_eq!(window("7:7"), Ok(7..=7));
    for text in ["7", "7:", ":7", "8:7", "a:b", "1:2:3"] {
        assert!(window(text).is_err(), "{text}");
    }
}

#[test]
fn a_replacement_needs_module_and_file() {
    assert_eq!(replacement("a=b=c.sv"), Ok(("a".into(), "b=c.sv".into())));
    for text in ["a", "a=", "=b", ""] {
        assert!(replacement(text).is_err(), "{text}");
    }
}

/// The lines on a command in the list of commands of docs/program.md.
fn usage_of<'a>(page: &'a str, command: &str) -> Vec<&'a str> {
    let list = page.split("## Commands\n```\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a list");
    let mut lines = Vec::new();
    let mut inside = false;
    for line in list.lines() {
        if let Some(rest) = line.strip_prefix("gpurf ") {
            inside = rest.split(' ').next() == Some(command);
        }
        if inside {
            lines.push(line);
        }
    }
    lines
}

#[test]
fn the_page_lists_every_command_and_every_option() {
    let page = include_str!("../../../../docs/program.md");
    let mut missing = Vec::new();
    for command in Cli::command().get_subcommands() {
        let usage = usage_of(page, command.get_name()).join("\n");
        if usage.is_empty() {
            missing.push(format!("gpurf {}", command.get_name()));
        }
        let options = command.get_subcommands().flat_map(clap::Command::get_arguments).chain(command.get_arguments());
        for option in options.filter(|option| !option.is_hide_set()).filter_map(clap::Arg::get_long) {
            let named = usage.split(['[', ']', ' ', '|']).any(|word| word == format!("--{option}"));
            if !named && option != "help" && option != "version" {
                missing.push(format!("gpurf {} --{option}", command.get_name()));
            }
        }
    }
    assert!(missing.is_empty(), "not in the commands of docs/program.md: {missing:#?}");
}
