//! Examples and exit statuses of each command, for its help.

/// Pairs of a text and its explanation.
type Rows = &'static [(&'static str, &'static str)];

/// For each command: its name, examples with their effects, and exit statuses with their meanings.
/// The main job has no name, and its statuses are in the overview.
pub(super) const EXAMPLES: &[(&str, Rows, Rows)] = &[
    (
        "",
        &[
            ("convert session.jsonl --to clido -o clido.jsonl", "convert a file"),
            ("convert clido.jsonl --to claude-code -o back.jsonl", "get the original back"),
            ("convert resume 2a86484a --in clido", "go on with a session in clido"),
            ("convert archive/ --to clido -o out/", "convert a folder, on all cores"),
        ],
        &[],
    ),
    (
        "detect",
        &[("convert detect archive/", "a line per file: its format, a tab, its name")],
        &[
            ("0", "every input has a known format"),
            ("1", "some inputs have an unknown format, or cannot be read"),
            ("2", "no input could be read"),
        ],
    ),
    ("formats", &[("convert formats", "the names for --to and --from")], &[("0", "always")]),
    (
        "resume",
        &[
            ("convert resume --in codex", "the newest session of this project, in Codex"),
            ("convert resume 2a86484a --in clido --exec", "one session; start clido with it"),
            ("convert resume 2a86484a --in claude-code", "home again, with the new turns"),
        ],
        &[
            ("0", "the agent has the session; the command is on standard output"),
            ("1", "the same, but something needs attention, such as damaged lines"),
            ("2", "nothing was written, or the agent did not start; standard error says why"),
        ],
    ),
    (
        "check",
        &[
            ("convert check session.jsonl", "check a file for its own client"),
            ("convert check --as clido out.jsonl", "check it for clido"),
            ("convert check --project ~/app --json", "check all sessions of a project"),
        ],
        &[
            ("0", "no finding stops the client; warnings do not count"),
            ("1", "a finding stops the client, or an input cannot be read"),
            ("2", "no input could be read"),
        ],
    ),
    (
        "list",
        &[
            ("convert list", "all sessions of this machine, the newest first"),
            ("convert list --long --sort tokens -n 10", "the ten with the most tokens"),
            ("convert list --last 3", "the three newest"),
            ("convert list --without empty,warmup", "without sessions that say nothing"),
            ("convert list --columns id,title --since yesterday", "two columns, from a day on"),
        ],
        &[
            ("0", "sessions were listed"),
            ("1", "no session was found, or an input cannot be read"),
            ("2", "no input could be read"),
        ],
    ),
    (
        "show",
        &[
            ("convert show session.jsonl", "a conversation, in the pager"),
            ("convert show 2a86484a --tool Bash --full", "all output of a tool"),
            ("convert show 2a86484a --tail 5", "the last five messages"),
            ("convert show 2a86484a --interactions", "prompts and their final answers"),
            ("convert show 2a86484a --branch fe8bd046", "a branch that was rewound"),
            ("convert show --markdown session.jsonl > session.md", "as Markdown"),
            ("convert show --follow session.jsonl", "while the session goes on"),
        ],
        &[
            ("0", "the session was printed"),
            ("1", "an input among several cannot be read"),
            ("2", "no input could be read"),
        ],
    ),
    (
        "find",
        &[
            ("convert find --text timeout -i", "a word, in all sessions"),
            ("convert find --errors=flag --tool Bash archive/", "failed commands"),
            ("convert find --file src/lib.rs --json .", "uses of a file, as JSON objects"),
            ("convert find --command 'git push' -C 2", "pushes, with two parts around each"),
            ("convert find --tool Bash --min-duration 1min", "commands that took a minute"),
        ],
        &[
            ("0", "there is a hit"),
            ("1", "there is no hit, or an input cannot be read"),
            ("2", "a usage error, or no input could be read"),
        ],
    ),
    (
        "stats",
        &[
            ("convert stats session.jsonl", "one session"),
            ("convert stats --each --brief archive/", "a short summary of each session"),
            ("convert stats --since 7d", "the records of the last seven days"),
            ("convert stats --json --project ~/app", "the sum of a project, as a JSON object"),
        ],
        &[
            ("0", "the inputs were summarized"),
            ("1", "an input among several cannot be read"),
            ("2", "no input could be read"),
        ],
    ),
    (
        "usage",
        &[
            ("convert usage --since 7d", "the last seven days, a line per day"),
            ("convert usage --by project,model", "a line per project and model"),
            ("convert usage --by block --timezone UTC", "in blocks of five hours"),
            ("convert usage --json archive/", "an object per day, and one for the total"),
        ],
        &[
            ("0", "responses were counted"),
            ("1", "there is no response, or an input cannot be read"),
            ("2", "no input could be read"),
        ],
    ),
    (
        "lineage",
        &[
            ("convert lineage", "the families among the sessions of this machine"),
            ("convert lineage --json archive/", "an object per session with its parent"),
        ],
        &[
            ("0", "sessions were read"),
            ("1", "an input cannot be read"),
            ("2", "no input could be read"),
        ],
    ),
    (
        "export",
        &[
            ("convert export --html session.jsonl -o page.html", "one page"),
            ("convert export --html archive/ -o pages/", "a page for each, and an index"),
        ],
        &[
            ("0", "the pages were written, or are up to date"),
            ("1", "some lines are damaged, or a session could not be exported"),
            ("2", "nothing could be exported"),
        ],
    ),
    (
        "tables",
        &[
            ("convert tables -o tables archive/", "two tables, for DuckDB and others"),
            ("convert tables --with-raw -o tables archive/", "also keep the files"),
        ],
        &[
            ("0", "the tables were written"),
            ("1", "an input among several cannot be read"),
            ("2", "no table was written"),
        ],
    ),
    (
        "restore",
        &[("convert restore tables -o restored/", "write the files of tables --with-raw")],
        &[
            ("0", "all files were written"),
            ("1", "a file could not be written"),
            ("2", "the tables cannot be read, or have no raw lines"),
        ],
    ),
    (
        "plan",
        &[("convert plan archive/ --to clido -o out/ > plan.jsonl", "one line per session")],
        &[("0", "the plan was printed"), ("2", "a usage error, or nothing to plan")],
    ),
    (
        "work",
        &[
            ("convert work plan.jsonl > receipts.jsonl", "convert all units"),
            ("convert work --shard 3/8 plan.jsonl > receipts.3", "convert every eighth unit"),
        ],
        &[
            ("0", "every unit has a receipt; it says whether the unit failed"),
            ("2", "a plan cannot be read"),
        ],
    ),
    (
        "merge",
        &[
            ("convert merge --plan plan.jsonl", "use the stored receipts"),
            ("convert merge --plan plan.jsonl receipts.jsonl", "use these receipts"),
        ],
        &[
            ("0", "all units are done"),
            ("1", "a unit failed or has no receipt"),
            ("2", "the plan cannot be read"),
        ],
    ),
    (
        "scan",
        &[
            ("convert scan session.jsonl", "one line per secret, without the secret"),
            ("convert scan --json archive/", "a JSON object per secret"),
        ],
        &[
            ("0", "no secret was found"),
            ("1", "a secret was found, or an input cannot be read"),
            ("2", "no input could be read"),
        ],
    ),
    (
        "carry",
        &[
            ("convert carry show clido.jsonl", "the source lines that a file carries"),
            ("convert carry strip clido.jsonl > clean.jsonl", "remove them for good"),
        ],
        &[("0", "printed"), ("2", "the input cannot be read")],
    ),
    (
        "repair",
        &[
            ("convert repair torn.jsonl -o whole.jsonl", "write a session that its client takes"),
            ("convert repair 2a86484a --dry-run", "only list the changes"),
        ],
        &[
            ("0", "the session was written; its client takes it"),
            ("2", "the session cannot be read or repaired, or the output exists"),
        ],
    ),
    (
        "fork",
        &[
            ("convert fork 2a86484a --install", "a copy beside it, and the command to resume it"),
            ("convert fork session.jsonl -o copy.jsonl", "a copy in a file"),
        ],
        &[("0", "the copy was written"), ("2", "the session cannot be read or copied")],
    ),
    (
        "stale",
        &[
            ("convert stale 2a86484a", "files that changed after the session wrote them"),
            ("convert stale --json --project ~/app", "an object for each file of a project"),
        ],
        &[
            ("0", "no file changed"),
            ("1", "a file changed, or an input cannot be read"),
            ("2", "no input could be read"),
        ],
    ),
    (
        "completions",
        &[
            ("eval \"$(convert completions bash)\"", "the line for ~/.bashrc"),
            (
                "convert completions fish > ~/.config/fish/completions/convert.fish",
                "install completions for fish",
            ),
        ],
        &[("0", "printed"), ("2", "an unknown shell")],
    ),
    (
        "man",
        &[
            ("convert man | man -l -", "the manual page of the program"),
            ("convert man carry show | man -l -", "the manual page of a command"),
        ],
        &[("0", "printed"), ("2", "an unknown command")],
    ),
];
