//! Absolute times of decoding a result, and of decoding and translating it: `cargo bench --bench hops`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mcp_bench::{Hop, Way};

fn hops(criterion: &mut Criterion) {
    for case in Hop::CASES {
        for way in Way::ALL {
            let hop = Hop::new(case, way).expect("the tests cover every combination");
            let mut group = criterion.benchmark_group(format!("hop/{}/{}", case.name(), way.name()));
            group.throughput(Throughput::Bytes(hop.bytes()));
            group.bench_function("decode", |bencher| bencher.iter(|| hop.decode()));
            group.bench_function("translate", |bencher| bencher.iter(|| hop.translate()));
            group.finish();
        }
    }
}

criterion_group!(benches, hops);
criterion_main!(benches);
