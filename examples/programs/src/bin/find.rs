//! Prints each session of this machine: its path, its format, and the number of prompts in it.

use format_pi::core_model::{Environment, System};
use programs::FORMATS;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let environment = Environment::new(System::HERE, &|name| std::env::var_os(name));
    for stored in sessions::sessions(FORMATS, environment)? {
        let session = sessions::open(FORMATS, &stored.path, &mut |warning| eprintln!("{warning}"))?;
        let mut n_prompts = 0;
        session.for_each(&mut |read| {
            n_prompts += u64::from(read.event.is_ok_and(|event| event.is_prompt()));
            true
        })?;
        println!("{} {} {n_prompts}", stored.path.display(), stored.format.name);
    }
    Ok(())
}
