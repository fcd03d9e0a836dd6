//! Bar charts of tables.

use anyhow::Result;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::measured::{Measured, shown};

const WIDTH: u32 = 760;
const LEFT: i32 = 150;
const RIGHT: i32 = 90;
const ROW: i32 = 30;
const BAR: i32 = 18;
const INK: RGBColor = RGBColor(0x33, 0x33, 0x33);
const OURS: RGBColor = RGBColor(0x1f, 0x6f, 0xb4);
const OTHERS: RGBColor = RGBColor(0xb0, 0xb6, 0xbd);

/// The columns with numbers of this project.
const OUR_COLUMNS: [&str; 3] = ["typed", "message", "ours"];

/// Draws a table. Each row has its own scale, because numbers of different rows aren't comparable.
pub fn draw(measured: &Measured, table: &str) -> Result<String> {
    let rows = measured.rows(table);
    let columns = measured.columns(table);
    let bars = |row: &str| -> Vec<(String, f64)> {
        let bar = |column: &&str| Some(((*column).to_owned(), measured.at(table, row, column)?.mean()));
        columns.iter().filter_map(bar).collect()
    };
    let groups: Vec<_> = rows.iter().map(|row| ((*row).to_owned(), bars(row))).collect();
    let height: i32 = groups.iter().map(|(_, bars)| ROW + BAR * bars.len() as i32).sum();
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH, height as u32 + 10)).into_drawing_area();
        root.fill(&WHITE)?;
        let mut top = 0;
        for (row, bars) in &groups {
            let bold = ("sans-serif", 16).into_font().style(FontStyle::Bold).color(&INK);
            root.draw(&Text::new(row.clone(), (10, top + 10), bold))?;
            top += ROW;
            let longest = bars
                .iter()
                .map(|(_, value)| value.abs())
                .fold(f64::MIN_POSITIVE, f64::max);
            for (column, value) in bars {
                let length = (value.max(0.0) / longest * f64::from(WIDTH as i32 - LEFT - RIGHT)) as i32;
                let color = if OUR_COLUMNS.contains(&column.as_str()) {
                    OURS
                } else {
                    OTHERS
                };
                let middle = top + BAR / 2;
                let corners = [(LEFT, top + 2), (LEFT + length.max(1), top + BAR - 2)];
                root.draw(&Rectangle::new(corners, color.filled()))?;
                let small = ("sans-serif", 15).into_font().color(&INK);
                let name = small.clone().pos(Pos::new(HPos::Right, VPos::Center));
                root.draw(&Text::new(column.clone(), (LEFT - 6, middle), name))?;
                let number = small.pos(Pos::new(HPos::Left, VPos::Center));
                root.draw(&Text::new(shown(*value), (LEFT + length + 6, middle), number))?;
                top += BAR;
            }
        }
        root.present()?;
    }
    Ok(svg)
}
