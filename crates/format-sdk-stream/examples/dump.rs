//! Writes a stream as the Agent SDK for Python dumps it: `dump STREAM TARGET [0.1.6]`.
//!
//! The lines equal `json.dumps(dataclasses.asdict(parse_message(json.loads(line))))`.

use std::{env, error::Error, fs};

use core_model::SdkVersion;
use format_sdk_stream::{Dialect, StreamWriter};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [stream, target, version @ ..] = arguments.as_slice() else {
        return Err("a stream, a target, and perhaps a version".into());
    };
    let is_old = version.first().is_some_and(|version| version == "0.1.6");
    let version = if is_old { SdkVersion::V0_1_6 } else { SdkVersion::V0_2_187 };
    let mut writer = StreamWriter::create(target, Dialect::Dump(version))?;
    for line in jsonl::lines(&fs::read(stream)?) {
        // Text between the lines is skipped, as in the SDK.
        let Ok(line) = std::str::from_utf8(line.content()) else { continue };
        _ = writer.write_line(line);
    }
    Ok(writer.finish()?)
}
