//! The lint of size casts: tools evaluate the operand of such a cast differently, so a sum must not be widened by one.

use gpurf_regress::Project;

#[test]
fn a_cast_that_widens_a_sum_is_refused() {
    let (project, folder) = (Project::find(), tempfile::tempdir().unwrap());
    let file = folder.path().join("casts.sv");
    let lint = |sum: &str| {
        let text = format!(
            "module casts (\n  input logic [31:0] a_i, b_i,\n  output logic [32:0] sum_o\n);\n  assign sum_o = {sum};\nendmodule\n"
        );
        std::fs::write(&file, text).unwrap();
        let script = project.root.join("scripts/lint_casts.py");
        let output = std::process::Command::new(project.root.join("target/venv/bin/python"))
            .arg(script)
            .arg(&file)
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for sum in ["33'(a_i + b_i)", "33'((a_i - b_i))", "33'(a_i == b_i ? a_i << 1 : b_i)", "(32 + 1)'(~a_i)"] {
        let (status, text) = lint(sum);
        assert!(status == Some(1) && text.contains("casts.sv:5: the cast widens"), "{sum}: {text}");
    }
    for sum in
        ["33'(a_i) + 33'(b_i)", "33'(a_i & b_i)", "33'({1'b0, a_i} + b_i)", "33'(a_i[4+:8])", "33'(5'(a_i + b_i))"]
    {
        assert_eq!(lint(sum).0, Some(0), "{sum}");
    }
}
