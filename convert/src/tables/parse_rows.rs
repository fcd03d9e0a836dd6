//! Reading the rows of conversions.

use mcp_wire::{Decoded, JsonType, Reader};

use super::json::{Source, each, entries, leaked, list, map, optional, string};
use super::named::{Named, Text};
use super::rows::{
    Action, Check, Condition, DefaultRow, Enclosing, Ensure, Join, LeftAction, LeftRow, MemberRow, NewString,
    ObjectRow, PathStep, Refusal, Rows, VariantRow, Without,
};

pub(super) fn rows(reader: &mut Source) -> Decoded<Rows> {
    let mut rows = Rows::default();
    each(reader, |reader, key| {
        match &*key {
            "definitions" => rows.definitions = map(reader, optional)?,
            "methods" => rows.methods = map(reader, string)?,
            "objects" => rows.objects = map(reader, object)?,
            "unions" => rows.unions = map(reader, |reader| list(reader, variant))?,
            "strings" => rows.strings = map(reader, |reader| map(reader, new_string))?,
            "narrower" => rows.narrower = narrower(reader)?,
            "results" => rows.results = map(reader, |reader| map(reader, optional))?,
            _ => drop(reader.raw()?),
        }
        Ok(())
    })?;
    Ok(rows)
}

fn narrower(reader: &mut Source) -> Decoded<Named<()>> {
    let mut pairs = Named::default();
    reader.array(|reader| {
        pairs.add(string(reader)?, ());
        Ok(())
    })?;
    Ok(pairs)
}

fn object(reader: &mut Source) -> Decoded<ObjectRow> {
    let mut row = ObjectRow::default();
    each(reader, |reader, key| {
        match &*key {
            "members" => row.members = map(reader, member)?,
            "left" => row.left = map(reader, left)?,
            "moves" => row.moves = list(reader, paths)?,
            _ => drop(reader.raw()?),
        }
        Ok(())
    })?;
    Ok(row)
}

fn member(reader: &mut Source) -> Decoded<MemberRow> {
    let mut row = MemberRow::default();
    each(reader, |reader, key| {
        match &*key {
            "from" => row.from = Some(string(reader)?),
            "at" => row.pointer = Some(optional(reader)?),
            "supplied" => row.supplied = Some(string(reader)?),
            "default" => row.default = Some(default(reader, false)?),
            "implied" => row.default = Some(default(reader, true)?),
            "check" => {
                let fields = fields(reader)?;
                row.check = Some(Check {
                    pointers: fields.texts("at")?,
                    drop: fields.optional("drop"),
                });
            }
            "declared" => {
                row.declared = list(reader, |reader| {
                    let pair = list(reader, string)?;
                    match pair.as_slice() {
                        [name, pointer] => Ok((*name, *pointer)),
                        _ => Err(reader.missing("declared")),
                    }
                })?;
            }
            _ => row.action = action(&key, reader)?,
        }
        Ok(())
    })?;
    Ok(row)
}

fn action(key: &str, reader: &mut Source) -> Decoded<Option<Action>> {
    Ok(Some(match key {
        "variants" => Action::Variants(list(reader, variant)?),
        "tag" => match list(reader, string)?.as_slice() {
            [from, to] => Action::Tag(from, to),
            _ => return Err(reader.missing("tag")),
        },
        "fill" => reader.boolean().map(|_| Action::Fill)?,
        "empty" => reader.boolean().map(|_| Action::Empty)?,
        "wrap" => reader.boolean().map(|_| Action::Wrap)?,
        "unwrap" => reader.boolean().map(|_| Action::Unwrap)?,
        "enclose" => Action::Enclose(fields(reader)?.enclosing()),
        "extract" => Action::Extract(fields(reader)?.enclosing()),
        "drop" => Action::Drop { rule: string(reader)? },
        "ensure" => Action::Ensure(fields(reader)?.ensure()),
        "refuse" => Action::Refuse(fields(reader)?.refusal()),
        "omit" => {
            let fields = fields(reader)?;
            Action::Omit {
                unless: fields.text("unless"),
                rule: fields.text("rule"),
            }
        }
        "hide" => {
            let fields = fields(reader)?;
            Action::Hide {
                when: fields.conditions()?,
                rule: fields.text("rule"),
            }
        }
        "split" => {
            let fields = fields(reader)?;
            Action::Split {
                member: fields.text("by"),
                rule: fields.text("rule"),
            }
        }
        "join" => {
            let fields = fields(reader)?;
            Action::Join(Join {
                when: fields.conditions()?,
                member: fields.text("member"),
                separator: fields.text("with"),
                item: fields.text("item"),
                otherwise: fields.refusal(),
            })
        }
        "without" => {
            let fields = fields(reader)?;
            let unless = fields.optional("has").zip(fields.optional("lacks"));
            Action::Without(Without {
                members: fields.texts("members")?,
                unless,
                rule: fields.text("rule"),
            })
        }
        _ => return reader.raw().map(|_| None),
    }))
}

fn left(reader: &mut Source) -> Decoded<LeftRow> {
    let mut row = LeftRow::default();
    each(reader, |reader, key| {
        match &*key {
            "implied" => row.implied = Some(string(reader)?),
            "drop" => row.action = Some(LeftAction::Drop { rule: string(reader)? }),
            "ensure" => row.action = Some(LeftAction::Ensure(fields(reader)?.ensure())),
            "refuse" => row.action = Some(LeftAction::Refuse(fields(reader)?.refusal())),
            "copy" => {
                let fields = fields(reader)?;
                row.action = Some(LeftAction::Copy {
                    to: list(&mut Reader::new(fields.get("to").unwrap_or("[]")), path_step)?,
                    rule: fields.text("rule"),
                });
            }
            "supply" => {
                let fields = fields(reader)?;
                row.action = Some(LeftAction::Supply {
                    key: fields.text("key"),
                    rule: fields.text("rule"),
                });
            }
            _ => drop(reader.raw()?),
        }
        Ok(())
    })?;
    Ok(row)
}

fn variant(reader: &mut Source) -> Decoded<VariantRow> {
    match reader.json_type()? {
        JsonType::Number => {
            let index = reader.integer()?;
            return Ok(VariantRow::Becomes(usize::try_from(index).unwrap_or_default()));
        }
        JsonType::Array => return Ok(VariantRow::OneOf(list(reader, variant)?)),
        _ => {}
    }
    let mut row = VariantRow::None("");
    let mut replacement = (None, "");
    each(reader, |reader, key| {
        match &*key {
            "replace" => replacement.0 = Some(string(reader)?),
            "rule" => replacement.1 = string(reader)?,
            "none" => row = VariantRow::None(string(reader)?),
            "refuse" => row = VariantRow::Refuse(fields(reader)?.refusal()),
            _ => drop(reader.raw()?),
        }
        Ok(())
    })?;
    Ok(match replacement {
        (Some(template), rule) => VariantRow::Replace { template, rule },
        _ => row,
    })
}

fn new_string(reader: &mut Source) -> Decoded<NewString> {
    let (text, replaced) = match reader.json_type()? {
        JsonType::String => (string(reader)?, None),
        _ => {
            let fields = fields(reader)?;
            (fields.text("replace"), fields.optional("rule"))
        }
    };
    Ok(NewString { text, replaced })
}

fn default(reader: &mut Source, implied: bool) -> Decoded<DefaultRow> {
    let fields = fields(reader)?;
    Ok(DefaultRow {
        json: fields.text("json"),
        rule: fields.text("rule"),
        implied,
    })
}

/// Reads a step of a path: the name of a member, or the texts in the members of an element.
fn path_step(reader: &mut Source) -> Decoded<PathStep> {
    Ok(match reader.json_type()? {
        JsonType::String => PathStep::Member(string(reader)?),
        _ => {
            let mut texts = Vec::new();
            each(reader, |reader, name| {
                texts.push((leaked(name), string(reader)?));
                Ok(())
            })?;
            PathStep::Element(texts)
        }
    })
}

/// Reads an array of two paths.
fn paths(reader: &mut Source) -> Decoded<[Vec<PathStep>; 2]> {
    let mut paths = list(reader, |reader| list(reader, path_step))?.into_iter();
    Ok([(); 2].map(|()| paths.next().unwrap_or_default()))
}

/// Reads an array of a path and a text.
fn path_and_text(reader: &mut Source) -> Decoded<(Vec<Text>, Text)> {
    let (mut path, mut text) = (Vec::new(), "");
    reader.array(|reader| {
        match reader.json_type()? {
            JsonType::Array => path = list(reader, string)?,
            _ => text = string(reader)?,
        }
        Ok(())
    })?;
    Ok((path, text))
}

/// The members of a small row.
struct Fields(Vec<(Text, Text)>);

fn fields(reader: &mut Source) -> Decoded<Fields> {
    entries(reader).map(Fields)
}

impl Fields {
    fn get(&self, name: &str) -> Option<Text> {
        let (_, json) = self.0.iter().find(|(other, _)| *other == name)?;
        Some(json)
    }

    fn optional(&self, name: &str) -> Option<Text> {
        let mut reader = Reader::new(self.get(name)?);
        optional(&mut reader).ok().flatten()
    }

    fn text(&self, name: &str) -> Text {
        self.optional(name).unwrap_or_default()
    }

    fn texts(&self, name: &str) -> Decoded<Vec<Text>> {
        let json = self.get(name).unwrap_or("[]");
        list(&mut Reader::new(json), string)
    }

    fn conditions(&self) -> Decoded<Vec<Condition>> {
        let json = self.get("when").unwrap_or("[]");
        list(&mut Reader::new(json), |reader| {
            let (path, text) = path_and_text(reader)?;
            Ok(Condition { path, text })
        })
    }

    fn ensure(&self) -> Ensure {
        Ensure {
            list: self.text("list"),
            item: self.text("item"),
            rule: self.text("rule"),
        }
    }

    fn enclosing(&self) -> Enclosing {
        Enclosing {
            member: self.text("member"),
            key: self.optional("key"),
        }
    }

    fn refusal(&self) -> Refusal {
        let code = self.get("code").and_then(|json| Reader::new(json).integer().ok());
        Refusal {
            code: code.unwrap_or(mcp_wire::error_code::INVALID_PARAMS),
            because: self.text("because"),
            rule: self.text("rule"),
        }
    }
}
