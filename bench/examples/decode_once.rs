//! Decodes one case with one library, once: to be run under callgrind, which counts the instructions of `measured`.

use mcp_bench::{Case, Failure, Library, Subject, subject};

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let (case, library) = (arguments.next(), arguments.next());
    let case = Case::ALL
        .into_iter()
        .find(|known| Some(known.name()) == case.as_deref());
    let library = Library::ALL
        .into_iter()
        .find(|known| Some(known.name()) == library.as_deref());
    let (Some(case), Some(library)) = (case, library) else {
        let (cases, libraries) = (Case::ALL.map(Case::name), Library::ALL.map(Library::name));
        return Err(format!("name one of {cases:?} and one of {libraries:?}").into());
    };
    measured(&*subject(case, library)?);
    Ok(())
}

#[inline(never)]
fn measured(subject: &dyn Subject) {
    subject.decode();
}
