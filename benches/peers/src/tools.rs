//! Finds the alternatives to our program on the machine, or installs them into a folder.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use crate::options::Options;

/// The programs of others, and the missing ones.
pub(crate) struct Tools {
    pub(crate) jq: Option<PathBuf>,
    pub(crate) jaq: Option<PathBuf>,
    pub(crate) node: Option<PathBuf>,
    /// A Python that has orjson.
    pub(crate) orjson: Option<PathBuf>,
    /// A Python that has DuckDB.
    pub(crate) duckdb: Option<PathBuf>,
    pub(crate) casr: Option<PathBuf>,
    pub(crate) transession: Option<PathBuf>,
    /// A count of lines by type with simdjson's On-Demand, in C++.
    pub(crate) simdjson: Option<PathBuf>,
    /// Names with versions, as the programs print them.
    pub(crate) versions: Vec<String>,
    /// Names of missing programs with the reason.
    pub(crate) missing: Vec<String>,
}

/// Programs from crates.io: the program, its crate, its version, the toolchain that it needs.
const CRATES: [(&str, &str, &str, &str); 3] = [
    ("jaq", "jaq", "3.1.2", "+stable"),
    ("casr", "cross_agent_session_resumer", "0.4.0", "+nightly"),
    ("transession", "transession", "0.2.0", "+stable"),
];

/// Modules from PyPI.
const MODULES: [(&str, &str); 2] = [("orjson", "3.13.0"), ("duckdb", "2.0.0")];

/// Finds all programs. Installs missing ones, unless the options forbid it.
pub(crate) fn find(options: &Options) -> Tools {
    let mut tools = Tools {
        jq: None,
        jaq: None,
        node: None,
        orjson: None,
        duckdb: None,
        casr: None,
        transession: None,
        simdjson: None,
        versions: Vec::new(),
        missing: Vec::new(),
    };
    tools.jq = tools.on_path("jq");
    tools.node = tools.on_path("node");
    let [jaq, casr, transession] = CRATES.map(|wanted| tools.crate_program(wanted, options));
    (tools.jaq, tools.casr, tools.transession) = (jaq, casr, transession);
    let [orjson, duckdb] = MODULES.map(|wanted| tools.python_with(wanted, options));
    (tools.orjson, tools.duckdb) = (orjson, duckdb);
    tools.simdjson = tools.simdjson_program(options);
    tools
}

impl Tools {
    fn on_path(&mut self, name: &str) -> Option<PathBuf> {
        let folders = env::var_os("PATH")?;
        let found = env::split_paths(&folders).map(|folder| folder.join(name));
        let found = found.into_iter().find(|path| path.is_file());
        match &found {
            Some(path) => self.versions.push(format!("{name} {}", version_of(path, name))),
            None => self.missing.push(format!("{name} (not on the path)")),
        }
        found
    }

    fn crate_program(
        &mut self,
        wanted: (&str, &str, &str, &str),
        options: &Options,
    ) -> Option<PathBuf> {
        let (name, package, version, toolchain) = wanted;
        let path = options.tools.join("bin").join(name);
        if !path.is_file() && !options.is_offline {
            let mut install = Command::new("cargo");
            // The cargo that runs this program sets this variable, which would choose the toolchain.
            install.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO");
            install.args([toolchain, "install", "--locked", "--quiet", package]);
            _ = install.args(["--version", version, "--root"]).arg(&options.tools).status();
        }
        if path.is_file() {
            self.versions.push(format!("{name} {version}"));
            return Some(path);
        }
        self.missing.push(format!("{name} (cargo {toolchain} install {package}@{version})"));
        None
    }

    fn simdjson_program(&mut self, options: &Options) -> Option<PathBuf> {
        let mut build = Command::new("sh");
        build.arg(options.scripts.join("simdjson.sh"));
        build.arg(options.scripts.join("count_simdjson.cpp")).arg(&options.tools);
        build.args(options.is_offline.then_some("--offline"));
        match build.output() {
            Ok(output) if output.status.success() => {
                let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
                self.versions.push(format!("simdjson {version}"));
                Some(options.tools.join("bin/count_simdjson"))
            }
            _ => {
                let needs = "simdjson (Debian's package libsimdjson-dev and a C++ compiler)";
                self.missing.push(needs.to_owned());
                None
            }
        }
    }

    fn python_with(&mut self, wanted: (&str, &str), options: &Options) -> Option<PathBuf> {
        let (name, version) = wanted;
        let python = options.tools.join("venv/bin/python");
        if !options.is_offline && !has_module(&python, name) {
            if !python.is_file() {
                let mut venv = Command::new("python3");
                _ = venv.args(["-m", "venv"]).arg(options.tools.join("venv")).status();
            }
            let wanted = format!("{name}=={version}");
            _ = Command::new(&python).args(["-m", "pip", "install", "-q", &wanted]).status();
        }
        if has_module(&python, name) {
            self.versions.push(format!("{name} {version}"));
            return Some(python);
        }
        self.missing.push(format!("{name} (pip install {name}=={version})"));
        None
    }
}

fn has_module(python: &Path, name: &str) -> bool {
    let import = Command::new(python).args(["-c", &format!("import {name}")]).output();
    import.is_ok_and(|output| output.status.success())
}

fn version_of(program: &Path, name: &str) -> String {
    let output = Command::new(program).arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let text = text.unwrap_or_default();
    let version = text.trim().trim_start_matches(name);
    version.trim_start_matches(['-', ' ', 'v']).to_owned()
}
