//! Tests of the rules, from outside the crate.

mod families;
mod fresh;
mod held_out;
mod links;
mod made_up;
mod samples;
mod spellings;
mod twice;
mod values;
mod vicinity;
