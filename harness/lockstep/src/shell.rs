//! Words of the commands that are printed.

/// A word as a shell reads it: in quotation marks, if it has characters that are special there.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_shell_reads_every_word_as_it_is() {
        assert_eq!(quoted("/a/b-1_2.sv:3=4,5"), "/a/b-1_2.sv:3=4,5");
        let words = ["", " ", "/my folder/a.sv", "it's", "~", "a\"b", "gen[3].q", "$HOME`ls`\\", "a;b&c|d", "#", "é\n"];
        for word in words {
            let script = format!("printf %s {}", quoted(word));
            let output = Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), word);
        }
    }
}
