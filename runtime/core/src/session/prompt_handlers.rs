//! Handlers that answer at once, which need no task.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use mcp_runtime_util::Mutex;

/// How often in succession a handler has to have answered at once.
const TIMES: u32 = 16;
/// The same for one that has been slow often: more would keep all from it whose threads others interrupt now and then.
const MOST_TIMES: u32 = 1024;
/// The time within which an answer is there at once.
const AT_ONCE: Duration = Duration::from_micros(100);
/// How many handlers are remembered.
const REMEMBERED: usize = 1024;

/// Which handlers run in the task that receives.
///
/// A task costs more than a handler that answers at once. But while a handler runs in the task that receives, nothing else is received,
/// not even a cancellation. So each begins with tasks of its own. One that was slow without a task needs twice as many answers at once
/// until it runs without one again, up to [`MOST_TIMES`]: it keeps others waiting in one of so many calls at most, but for the first few.
/// One that is slow no more often than that goes on without a task, since its thread may have been interrupted.
#[derive(Debug, Default)]
pub struct PromptHandlers {
    state: RandomState,
    /// The handlers in the order of their keys.
    handlers: Mutex<Vec<(HandlerKey, Record)>>,
}

/// How a handler has answered.
#[derive(Debug)]
struct Record {
    /// How often in succession it has answered at once.
    times: u32,
    /// How often it has to.
    needed: u32,
    /// Whether it needs no task.
    is_prompt: bool,
}

/// A method, and what it is for, such as a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct HandlerKey(u64);

impl PromptHandlers {
    /// The handler of a method's requests for a tool, prompt or resource.
    pub fn key(&self, method: &str, target: Option<&str>) -> HandlerKey {
        HandlerKey(self.state.hash_one((method, target)))
    }

    /// Whether a handler needs no task.
    pub fn is_prompt(&self, handler: HandlerKey) -> bool {
        let handlers = self.handlers.lock();
        find(&handlers, handler).is_ok_and(|at| handlers[at].1.is_prompt)
    }

    /// Remembers how long a handler ran before it returned the first time, with its answer or because it waits for something.
    pub fn ran(&self, handler: HandlerKey, time: Duration, has_answered: bool) {
        let mut handlers = self.handlers.lock();
        let at = match find(&handlers, handler) {
            Ok(at) => at,
            Err(_) if handlers.len() >= REMEMBERED => return,
            Err(at) => {
                let record = Record {
                    times: 0,
                    needed: TIMES,
                    is_prompt: false,
                };
                handlers.insert(at, (handler, record));
                at
            }
        };
        let record = &mut handlers[at].1;
        if has_answered && time <= AT_ONCE {
            record.times = record.times.saturating_add(1);
            record.is_prompt |= record.times >= record.needed;
            return;
        }
        let is_slow = record.is_prompt && time > AT_ONCE;
        let is_rare = is_slow && has_answered && record.times >= MOST_TIMES;
        if is_slow && !is_rare {
            record.needed = (record.needed * 2).min(MOST_TIMES);
        }
        record.is_prompt = is_rare;
        record.times = 0;
    }
}

fn find(handlers: &[(HandlerKey, Record)], handler: HandlerKey) -> Result<usize, usize> {
    handlers.binary_search_by_key(&handler, |(other, _)| *other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handler_is_prompt_after_answers_in_succession_and_after_twice_as_many_once_it_was_slow() {
        let handlers = PromptHandlers::default();
        let (key, other) = (
            handlers.key("tools/call", Some("a")),
            handlers.key("tools/call", Some("b")),
        );
        let run = |times: u32, time: Duration| (0..times).for_each(|_| handlers.ran(key, time, true));
        run(TIMES - 1, AT_ONCE);
        run(1, AT_ONCE * 2);
        run(TIMES - 1, AT_ONCE);
        assert!(!handlers.is_prompt(key));
        run(1, AT_ONCE);
        assert!(handlers.is_prompt(key) && !handlers.is_prompt(other));
        // One that waits keeps nobody from receiving.
        handlers.ran(key, AT_ONCE, false);
        assert!(!handlers.is_prompt(key));
        run(TIMES, AT_ONCE);
        assert!(handlers.is_prompt(key));
        run(1, AT_ONCE * 2);
        run(TIMES * 2 - 1, AT_ONCE);
        assert!(!handlers.is_prompt(key));
        run(1, AT_ONCE);
        assert!(handlers.is_prompt(key));
    }

    #[test]
    fn a_handler_that_was_slow_often_is_prompt_again_after_a_bounded_number_of_answers() {
        let handlers = PromptHandlers::default();
        let key = handlers.key("tools/call", Some("a"));
        for _ in 0..100 {
            (0..MOST_TIMES).for_each(|_| handlers.ran(key, AT_ONCE, true));
            assert!(handlers.is_prompt(key));
            handlers.ran(key, AT_ONCE * 2, true);
        }
    }

    #[test]
    fn a_prompt_handler_that_is_slow_once_in_many_times_stays_prompt() {
        let handlers = PromptHandlers::default();
        let key = handlers.key("tools/call", Some("a"));
        let run = |times: u32, time: Duration| (0..times).for_each(|_| handlers.ran(key, time, true));
        for _ in 0..3 {
            run(MOST_TIMES, AT_ONCE);
            run(1, AT_ONCE * 2);
            assert!(handlers.is_prompt(key));
        }
        run(MOST_TIMES - 1, AT_ONCE);
        run(1, AT_ONCE * 2);
        assert!(!handlers.is_prompt(key));
        // One that waits isn't prompt, however rarely it does.
        run(MOST_TIMES, AT_ONCE);
        assert!(handlers.is_prompt(key));
        handlers.ran(key, AT_ONCE, false);
        assert!(!handlers.is_prompt(key));
    }

    #[test]
    fn a_peer_that_calls_many_names_fills_no_memory() {
        let handlers = PromptHandlers::default();
        for name in 0..2 * REMEMBERED {
            let key = handlers.key("tools/call", Some(&name.to_string()));
            handlers.ran(key, Duration::ZERO, true);
        }
        assert_eq!(handlers.handlers.lock().len(), REMEMBERED);
    }
}
