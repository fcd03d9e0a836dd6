#!/bin/bash
# rebase, check, merge; repeated if main moves
export CARGO_INCREMENTAL=0
for i in 1 2 3; do
  git rebase main 2>&1 | tail -1
  out=$(cargo check --workspace --all-targets --all-features 2>&1) || { echo "$out" | grep -E "^(error|warning)" -A12 | head -60; exit 1; }
  if flock /root/wt/main.lock git -C /work/main merge --ff-only extract 2>&1 | tail -1 | grep -v "Not possible"; then git log --oneline -1 main | cat; exit 0; fi
done
