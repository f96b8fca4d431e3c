//! The tasks of this workspace: gates, checks of conventions, generated fixtures, measurements.
//!
//! ```
//! let problems = xtask::tidy(xtask::root());
//! for problem in &problems {
//!     println!("{problem}");
//! }
//! ```

mod alone;
mod atif_reader;
mod bench_peers;
mod ccusage;
mod ci;
mod cloud;
mod compat;
mod damage;
mod dist;
mod engines;
mod fixtures;
mod folders;
mod fuzz;
mod instructions;
mod limits;
mod manifest;
mod miri;
mod pages;
mod picture;
mod programs;
mod python;
mod queries;
mod real_clients;
mod scratch;
mod sdk_reader;
mod semver;
mod tidy;
mod toolchains;
mod wasm;
mod way;

use std::{
    env,
    path::{Path, PathBuf},
    sync::LazyLock,
};

pub use self::{
    alone::alone,
    atif_reader::atif_reader,
    bench_peers::bench_peers,
    ccusage::ccusage,
    ci::{ci, ci_more},
    cloud::cloud,
    compat::compat,
    dist::dist,
    engines::engines,
    fixtures::{check_fixtures, write_fixtures},
    folders::folders,
    fuzz::fuzz,
    instructions::instructions,
    limits::limits,
    manifest::{Fixture, manifest},
    miri::miri,
    pages::pages,
    picture::picture,
    programs::{measure_programs, programs},
    python::python_package,
    queries::queries,
    real_clients::real_clients,
    sdk_reader::sdk_reader,
    semver::semver,
    tidy::{Problem, layers, tidy},
    toolchains::{minimum, targets},
    wasm::wasm,
    way::way,
};

/// The prefix of all package names: the crate in `crates/jsonl` is the package `sessionlog-jsonl`, and
/// its library is `jsonl`. Without it, names such as `jsonl` are taken in the registry.
pub(crate) const PACKAGE_PREFIX: &str = "sessionlog-";

/// Returns the folder of the workspace.
pub fn root() -> &'static Path {
    // The path at compile time is of another clone if clones share a folder of build outputs.
    static HERE: LazyLock<PathBuf> = LazyLock::new(|| {
        let run_by_cargo = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        run_by_cargo.unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into())
    });
    HERE.parent().unwrap_or(&HERE)
}
