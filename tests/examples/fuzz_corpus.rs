//! Writes the inputs from which fuzzing starts into a folder, with a subfolder for each target.

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.ok_or_else(|| io::Error::other("usage: fuzz_corpus FOLDER"))?;
    for property in mcp_tests::fuzz::PROPERTIES {
        let seeds = (property.seeds)();
        fs::create_dir_all(folder.join(property.name))?;
        for (index, seed) in seeds.iter().enumerate() {
            fs::write(folder.join(property.name).join(format!("seed-{index}")), seed)?;
        }
        println!("{}: {} inputs", property.name, seeds.len());
    }
    Ok(())
}
