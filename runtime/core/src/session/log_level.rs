//! The order of log levels.

use mcp_adapters::hub::LoggingLevel;

/// The log levels, from the least severe.
const LEVELS: [LoggingLevel; 8] = [
    LoggingLevel::Debug,
    LoggingLevel::Info,
    LoggingLevel::Notice,
    LoggingLevel::Warning,
    LoggingLevel::Error,
    LoggingLevel::Critical,
    LoggingLevel::Alert,
    LoggingLevel::Emergency,
];

/// The log level of this severity.
pub fn log_level(severity: usize) -> Option<LoggingLevel> {
    LEVELS.get(severity).cloned()
}

/// The severity of a log level, if it is known.
pub fn severity(level: &LoggingLevel) -> Option<usize> {
    LEVELS.iter().position(|known| known == level)
}
