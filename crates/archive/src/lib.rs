//! Converts the sessions of coding agents to files: one, a folder of them, or a part of a plan.

mod config;
mod error;
mod exit;
mod folder_run;
mod install;
mod job;
mod journal;
mod object;
mod outcome;
mod outputs;
mod redaction;
mod report;
mod settled;
mod status;
mod unit;
mod warning;
mod worker;

pub use self::{
    config::{JobConfig, SubAgents},
    error::{ConvertError, NotInstalled},
    exit::Status,
    folder_run::{
        FolderRun, Worked,
        plan::{Plan, Task, largest_first},
    },
    install::{Installed, install},
    job::Job,
    journal::{
        Base, Journal, OutputOptions, Spelled, Unusable,
        paths::{is_harmful, path_body},
    },
    object::Object,
    outcome::{Outcome, Results},
    outputs::{Bundle, Durability, Manner, NotOpened, Outputs},
    report::Done,
    settled::{End, Figures, ReportOptions, Settled},
    status::Verdict,
    unit::strays,
    warning::{Warning, Warnings},
    worker::{
        TOOL, VERSION,
        chunk::{Root, Worker},
        join::{join, pieces},
        merged::Merged,
        named, open,
        planned::{Malformed, Planned, PlannedPiece},
        queue::{Line, Queue, Shard},
        receipt::Word,
        store::Store,
    },
};
