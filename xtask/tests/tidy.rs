//! Runs `tidy` over the workspace.

#[test]
fn the_workspace_is_tidy() {
    let problems = xtask::tidy(xtask::root());
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "\n{}\n", lines.join("\n"));
}
