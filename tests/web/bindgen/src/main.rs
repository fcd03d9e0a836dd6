//! Converts a WebAssembly module to a package that Node imports: `bindgen MODULE.wasm FOLDER`.

use std::error::Error;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let [module, folder] = std::env::args()
        .skip(1)
        .collect::<Vec<_>>()
        .try_into()
        .map_err(|_| "usage: bindgen MODULE.wasm FOLDER")?;
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).nodejs(true)?.typescript(false);
    // Optimized for size.
    bindgen.remove_name_section(true).remove_producers_section(true);
    bindgen.generate(folder)?;
    Ok(())
}
