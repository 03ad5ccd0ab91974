//! What the command line takes and refuses.

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
