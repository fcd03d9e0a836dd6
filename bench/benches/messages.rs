//! Absolute times of decoding and encoding, with their spread: `cargo bench`, or `cargo bench -- decode/tools`.

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};
use mcp_bench::{Case, Library, Subject, subject};

fn decode(criterion: &mut Criterion) {
    each(criterion, "decode", |group, name, subject| {
        group.bench_function(name, |bencher| bencher.iter(|| subject.decode()));
    });
}

fn encode(criterion: &mut Criterion) {
    each(criterion, "encode", |group, name, subject| {
        group.bench_function(name, |bencher| bencher.iter(|| subject.encode()));
    });
}

fn each(
    criterion: &mut Criterion,
    action: &str,
    measure: impl Fn(&mut BenchmarkGroup<'_, WallTime>, &str, &dyn Subject),
) {
    for case in Case::ALL {
        let mut group = criterion.benchmark_group(format!("{action}/{}", case.name()));
        group.throughput(Throughput::Bytes(case.json().len() as u64));
        for &library in Library::of(case) {
            let subject = subject(case, library).expect("the tests decode every case with every library");
            measure(&mut group, library.name(), &*subject);
        }
        group.finish();
    }
}

criterion_group!(benches, decode, encode);
criterion_main!(benches);
