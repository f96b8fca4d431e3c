//! Converts the sessions of coding agents to files: one, a folder of them, or a part of a plan.
//!
//! In: sessions and a [`JobConfig`]. Out: files, a [`FileReport`] for each, and the journal of the
//! folder. A [`Job`] has the configuration and the [`RunOutputs`], which are the folder or the file to
//! write. A [`FolderRun`] converts many sessions on all cores, and keeps a [`Journal`], so that the
//! next run converts only what changed: the table at [`Journal`] says when. A [`Worker`] converts units of a plan and answers each with
//! a receipt. Nothing here prints or reads the environment: warnings go to [`Warnings`].
//!
//! ```
//! use std::sync::Arc;
//!
//! use archive::{Job, JobConfig, RunOutputs, Warnings};
//! use core_model::Formats;
//! use sessions::{Input, SessionFiles};
//! use storage::Interruption;
//!
//! static FORMATS: Formats =
//!     Formats::new(&[&format_claude_code::FORMAT, &format_clido::FORMAT]);
//!
//! let folder = tempfile::tempdir()?;
//! let [source, target] = ["s1.jsonl", "s2.jsonl"].map(|name| folder.path().join(name));
//! let line = r#"{"type":"user","uuid":"u1","message":{"role":"user","content":"Hello"}}"#;
//! std::fs::write(&source, format!("{line}\n"))?;
//!
//! let job = Job {
//!     config: JobConfig::new(FORMATS, &format_clido::FORMAT),
//!     outputs: Arc::new(RunOutputs::anywhere(false, Interruption::default())),
//!     n_scanners: 0,
//!     warnings: Warnings::new(|warning| eprintln!("{warning}")),
//! };
//! let units = SessionFiles::group(FORMATS, vec![Input::file(source)], &mut |_| {});
//! for unit in &units {
//!     for (_, report) in job.convert_session(unit, &target, false) {
//!         assert!(report?.status.is_done());
//!     }
//! }
//! assert!(std::fs::read_to_string(&target)?.contains("user_message"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod carry_folders;
mod clock;
mod config;
mod error;
mod exit;
mod file_report;
mod folder_run;
mod install;
mod job;
mod journal;
mod main_name;
mod outputs;
mod paths;
mod program;
mod record;
mod redaction;
mod report;
mod session;
mod status;
mod totals;
mod warning;
mod worker;

pub use self::{
    carry_folders::Gone,
    clock::now_millis,
    config::{JobConfig, SubAgents},
    error::{ConvertError, NotInstalled},
    exit::Status,
    file_report::{EachResult, Figures, FileReport, ReportOptions, Results},
    folder_run::{
        FolderRun,
        plan::{OrderedTask, Plan, Task, largest_first},
        pool::on_threads,
    },
    install::{Change, Draft, Drafted, InstallTarget, Installed, Published, install},
    job::{Job, check_target},
    journal::{Journal, KeptCopies, OutputOptions, OutputRoot, Spelled, Unusable},
    outputs::{Durability, NotOpened, PublishSet, RunOutputs, WriteOptions},
    paths::{is_harmful, path_body},
    program::convert_file,
    report::ConvertedFile,
    session::strays,
    status::FileStatus,
    totals::{FileCounts, Totals},
    warning::{Warning, Warnings},
    worker::{
        chunk::{Worker, WorkerRoot},
        merged::{LabeledReport, Merged},
        named, open,
        place::AllowedRoots,
        plan_index::{BadPlan, PlanIndex},
        planned::{Malformed, Planned},
        queue::{Line, Queue, Shard},
        receipt::receipt_of_no_unit,
        store::Store,
    },
};

/// Compiles and runs the examples of README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmePage;
