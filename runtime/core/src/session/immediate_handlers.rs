//! Detection of prompt handlers, which answer immediately and so need no separate task.

use std::hash::BuildHasher;
use std::time::Duration;

use mcp_runtime_util::Mutex;
use rustc_hash::FxBuildHasher;

/// The number of prompt answers in succession after which a handler is prompt.
const TIMES: u32 = 16;
/// The maximum of that number for a handler that has often been slow. A higher one would exclude handlers whose threads
/// are interrupted now and then.
const MOST_TIMES: u32 = 1024;
/// The time within which an answer is prompt.
const AT_ONCE: Duration = Duration::from_micros(100);
/// The number of handlers that are remembered.
const REMEMBERED: usize = 1024;

/// Decides which handlers run in the receiving task.
///
/// A task costs more than a prompt handler. But while a handler runs in the receiving task, nothing else is received,
/// not even a cancellation. So each handler starts with a separate task per request. After [`TIMES`] prompt answers, it
/// runs in the receiving task. If it is slow there, it gets separate tasks again, and the number of prompt answers it
/// needs doubles, up to [`MOST_TIMES`]: so, except at first, it delays other messages in at most one of that many
/// calls. A handler that is slow no more often than that stays in the receiving task, because the cause can be an
/// interruption of its thread.
#[derive(Debug, Default)]
pub struct ImmediateHandlers {
    /// The handlers in the order of their keys.
    handlers: Mutex<Vec<(HandlerKey, Record)>>,
}

/// The history of a handler.
#[derive(Debug)]
struct Record {
    /// The number of prompt answers in succession.
    times: u32,
    /// The number of prompt answers it needs.
    needed: u32,
    /// Whether it needs no task.
    is_immediate: bool,
}

/// A hash of a method and its target, such as a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct HandlerKey(u64);

impl ImmediateHandlers {
    /// Returns the key for a method's requests for a tool, prompt or resource.
    ///
    /// A peer can choose targets with equal keys, but then only its own session takes their handlers for one.
    pub fn key(method: &str, target: Option<&str>) -> HandlerKey {
        HandlerKey(FxBuildHasher.hash_one((method, target)))
    }

    /// Whether a handler needs no task.
    pub fn is_immediate(&self, handler: HandlerKey) -> bool {
        let handlers = self.handlers.lock();
        find(&handlers, handler).is_ok_and(|at| handlers[at].1.is_immediate)
    }

    /// Records how long the first poll of a handler took, and whether it answered or waits for something.
    pub fn ran(&self, handler: HandlerKey, time: Duration, has_answered: bool) {
        let mut handlers = self.handlers.lock();
        let at = match find(&handlers, handler) {
            Ok(at) => at,
            Err(_) if handlers.len() >= REMEMBERED => return,
            Err(at) => {
                let record = Record {
                    times: 0,
                    needed: TIMES,
                    is_immediate: false,
                };
                handlers.insert(at, (handler, record));
                at
            }
        };
        let record = &mut handlers[at].1;
        if has_answered && time <= AT_ONCE {
            record.times = record.times.saturating_add(1);
            record.is_immediate |= record.times >= record.needed;
            return;
        }
        let is_slow = record.is_immediate && time > AT_ONCE;
        let is_rare = is_slow && has_answered && record.times >= MOST_TIMES;
        if is_slow && !is_rare {
            record.needed = (record.needed * 2).min(MOST_TIMES);
        }
        record.is_immediate = is_rare;
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
    fn a_slow_call_doubles_the_prompt_answers_that_a_handler_needs() {
        let handlers = ImmediateHandlers::default();
        let (key, other) = (
            ImmediateHandlers::key("tools/call", Some("a")),
            ImmediateHandlers::key("tools/call", Some("b")),
        );
        let run = |times: u32, time: Duration| (0..times).for_each(|_| handlers.ran(key, time, true));
        run(TIMES - 1, AT_ONCE);
        run(1, AT_ONCE * 2);
        run(TIMES - 1, AT_ONCE);
        assert!(!handlers.is_immediate(key));
        run(1, AT_ONCE);
        assert!(handlers.is_immediate(key) && !handlers.is_immediate(other));
        // A handler that waits doesn't block the receiving task, so it needs no more answers than before.
        handlers.ran(key, AT_ONCE, false);
        assert!(!handlers.is_immediate(key));
        run(TIMES, AT_ONCE);
        assert!(handlers.is_immediate(key));
        run(1, AT_ONCE * 2);
        run(TIMES * 2 - 1, AT_ONCE);
        assert!(!handlers.is_immediate(key));
        run(1, AT_ONCE);
        assert!(handlers.is_immediate(key));
    }

    #[test]
    fn a_frequently_slow_handler_needs_a_bounded_number_of_prompt_answers() {
        let handlers = ImmediateHandlers::default();
        let key = ImmediateHandlers::key("tools/call", Some("a"));
        for _ in 0..100 {
            (0..MOST_TIMES).for_each(|_| handlers.ran(key, AT_ONCE, true));
            assert!(handlers.is_immediate(key));
            handlers.ran(key, AT_ONCE * 2, true);
        }
    }

    #[test]
    fn a_rarely_slow_handler_stays_prompt() {
        let handlers = ImmediateHandlers::default();
        let key = ImmediateHandlers::key("tools/call", Some("a"));
        let run = |times: u32, time: Duration| (0..times).for_each(|_| handlers.ran(key, time, true));
        for _ in 0..3 {
            run(MOST_TIMES, AT_ONCE);
            run(1, AT_ONCE * 2);
            assert!(handlers.is_immediate(key));
        }
        run(MOST_TIMES - 1, AT_ONCE);
        run(1, AT_ONCE * 2);
        assert!(!handlers.is_immediate(key));
        // A handler that waits isn't prompt, even if it rarely does.
        run(MOST_TIMES, AT_ONCE);
        assert!(handlers.is_immediate(key));
        handlers.ran(key, AT_ONCE, false);
        assert!(!handlers.is_immediate(key));
    }

    #[test]
    fn the_number_of_remembered_handlers_is_bounded() {
        let handlers = ImmediateHandlers::default();
        for name in 0..2 * REMEMBERED {
            let key = ImmediateHandlers::key("tools/call", Some(&name.to_string()));
            handlers.ran(key, Duration::ZERO, true);
        }
        assert_eq!(handlers.handlers.lock().len(), REMEMBERED);
    }
}
