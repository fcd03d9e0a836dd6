//! Reading a table from its JSON text.

use mcp_wire::{Decoded, Discriminator, JsonType, Reader, Schema};
use rustc_hash::FxHashMap;

use super::Table;
use super::json::{Source, each, entries, leaked, list, optional, string};
use super::named::{Named, Text};
use super::parse_rows::rows;
use super::types::{
    Decision, Kind, Member, MemberValue, ObjectType, ResultDiscriminator, ResultUnion, Results, RoleTypes, Type,
    TypeId, TypeRef, Union, Variant,
};

/// The positions of the types by name.
type Names = FxHashMap<Text, TypeId>;

/// Reads the rows of a table.
pub(super) fn parse(text: Text, schema: &'static Schema) -> Decoded<Table> {
    let mut reader = Reader::new(text);
    let mut table = Table {
        revision: "",
        schema,
        before: None,
        definitions: "",
        types: Vec::new(),
        names: Named::default(),
        client: RoleTypes::default(),
        server: RoleTypes::default(),
        up: None,
        down: None,
    };
    let mut ids = Names::default();
    each(&mut reader, |reader, key| {
        match &*key {
            "revision" => table.revision = string(reader)?,
            "before" => table.before = optional(reader)?,
            "definitions" => table.definitions = string(reader)?,
            "types" => {
                let rows = entries(reader)?;
                ids = rows.iter().enumerate().map(|(id, (name, _))| (*name, id)).collect();
                let definitions = table.definitions;
                let read = |(name, row): &(Text, Text)| ty(name, definitions, &mut Reader::new(row), &ids);
                table.types = rows.iter().map(read).collect::<Decoded<_>>()?;
            }
            "names" => {
                each(reader, |reader, name| {
                    let ty = match reader.json_type()? {
                        JsonType::Null => reader.null().map(|()| None)?,
                        _ => Some(type_ref(reader, &ids)?),
                    };
                    table.names.add(leaked(name), ty);
                    Ok(())
                })?;
            }
            "client" => table.client = side(reader)?,
            "server" => table.server = side(reader)?,
            "up" => table.up = Some(rows(reader)?),
            "down" => table.down = Some(rows(reader)?),
            _ => drop(reader.raw()?),
        }
        Ok(())
    })?;
    reader.finish()?;
    for (name, id) in ids {
        table.names.add(name, Some(TypeRef::Named(id)));
    }
    Ok(table)
}

fn side(reader: &mut Source) -> Decoded<RoleTypes> {
    let mut names = RoleTypes::default();
    each(reader, |reader, key| {
        match &*key {
            "requests" => names.requests = optional(reader)?,
            "notifications" => names.notifications = optional(reader)?,
            "results" => names.results = optional(reader)?,
            _ => drop(reader.raw()?),
        }
        Ok(())
    })?;
    Ok(names)
}

// Types.

fn type_ref(reader: &mut Source, ids: &Names) -> Decoded<TypeRef> {
    let notation = string(reader)?;
    TypeRef::parse(notation, &|name| ids.get(name).copied())
        .ok_or_else(|| reader.wrong_type(format!("a type, not {notation:?}"), JsonType::String))
}

/// Reads a type. Its schema is the definition of the same name, unless the row has another pointer.
fn ty(name: Text, definitions: &str, reader: &mut Source, ids: &Names) -> Decoded<Type> {
    let (mut pointer, mut closed) = (None, false);
    let mut object = ObjectType::default();
    let mut kind = None;
    let mut decision = None;
    let (mut methods, mut result_types) = (None, Vec::new());
    each(reader, |reader, key| {
        match &*key {
            "at" => pointer = Some(string(reader)?),
            "closed" => closed = reader.boolean()?,
            section @ ("required" | "optional" | "constant" | "implied") => {
                let required = matches!(section, "required" | "constant");
                let constant = matches!(section, "constant" | "implied");
                each(reader, |reader, member| {
                    let value = match constant {
                        true => MemberValue::Constant(reader.raw()?),
                        false => MemberValue::Of(type_ref(reader, ids)?),
                    };
                    let name = leaked(member);
                    object.members.push(Member { name, required, value });
                    Ok(())
                })?;
            }
            "strings" => kind = Some(Kind::Strings(list(reader, string)?)),
            "alias" => kind = Some(Kind::Alias(type_ref(reader, ids)?)),
            "union" => {
                let variants = list(reader, |reader| {
                    let ty = type_ref(reader, ids)?;
                    let json_type = JsonType::Null;
                    Ok(Variant { ty, json_type })
                })?;
                kind = Some(Kind::Union(Union {
                    variants,
                    objects: None,
                }));
            }
            "objects" => decision = Some(self::decision(reader)?),
            "methods" => {
                let methods = entries(reader)?.into_iter().map(|(method, ty)| {
                    let reader = &mut Reader::new(ty);
                    match type_ref(reader, ids)? {
                        TypeRef::Named(id) => Ok((method, id)),
                        _ => Err(reader.missing(method)),
                    }
                });
                kind = Some(Kind::Methods(methods.collect::<Decoded<_>>()?));
            }
            "results" => {
                let results = entries(reader)?.into_iter();
                let results = results.map(|(method, row)| Ok((method, self::results(&mut Reader::new(row), ids)?)));
                methods = Some(results.collect::<Decoded<_>>()?);
            }
            "variants" => result_types = list(reader, |reader| type_ref(reader, ids))?,
            _ => drop(reader.raw()?),
        }
        Ok(())
    })?;
    let results = methods.map(|methods| {
        Kind::Results(ResultUnion {
            methods,
            variants: result_types,
        })
    });
    let mut kind = kind.or(results).unwrap_or(Kind::Object(object));
    if let Kind::Union(union) = &mut kind {
        let count = union.variants.len();
        if decision.as_ref().is_some_and(|decision| !decision.is_among(count)) {
            return Err(reader.missing("a variant for each decision"));
        }
        union.objects = decision;
    }
    Ok(Type {
        name,
        pointer: pointer.unwrap_or_else(|| format!("{definitions}{name}").leak()),
        closed,
        kind,
    })
}

fn results(reader: &mut Source, ids: &Names) -> Decoded<Results> {
    let mut results = Results::default();
    let (mut tag, mut values) = (None, Vec::new());
    each(reader, |reader, key| {
        match &*key {
            "types" => results.types = list(reader, |reader| type_ref(reader, ids))?,
            "tag" => tag = Some(string(reader)?),
            "values" => values = list(reader, string)?,
            "members" => results.told_by = ResultDiscriminator::Members(list(reader, string)?.leak()),
            _ => drop(reader.raw()?),
        }
        Ok(())
    })?;
    if let Some(tag) = tag {
        results.told_by = ResultDiscriminator::Tag(tag, values);
    }
    Ok(results)
}

fn decision(reader: &mut Source) -> Decoded<Decision> {
    if reader.json_type()? == JsonType::Number {
        let index = reader.integer()?;
        return Ok(Decision::Is(usize::try_from(index).unwrap_or_default()));
    }
    let (mut tag, mut types, mut cases, mut absent, mut others) = (None, None, Vec::new(), None, None);
    let (mut discriminators, mut decisions, mut otherwise, mut needs) = (Vec::new(), Vec::new(), None, Vec::new());
    let (mut within, mut inner) = (None, None);
    each(reader, |reader, key| {
        match &*key {
            "tag" => tag = Some(string(reader)?),
            "types" => types = Some(json_types(reader)?),
            "cases" => {
                cases = list(reader, |reader| {
                    let (mut values, mut chosen) = (Vec::new(), None);
                    let mut index = 0;
                    reader.array(|reader| {
                        match index {
                            0 => values = list(reader, string)?,
                            _ => chosen = Some(decision(reader)?),
                        }
                        index += 1;
                        Ok(())
                    })?;
                    Ok((values, chosen.ok_or_else(|| reader.missing("is"))?))
                })?;
            }
            "absent" if reader.json_type()? == JsonType::Null => reader.null()?,
            "absent" => absent = Some(Box::new(decision(reader)?)),
            "others" => others = Some(Box::new(decision(reader)?)),
            "has" => {
                reader.array(|reader| {
                    let (discriminator, decision) = case(reader)?;
                    discriminators.push(discriminator);
                    decisions.push(decision);
                    Ok(())
                })?;
            }
            "otherwise" => otherwise = Some(Box::new(decision(reader)?)),
            "needs" => needs = list(reader, string)?,
            "within" => within = Some(string(reader)?),
            "is" => inner = Some(Box::new(decision(reader)?)),
            _ => drop(reader.raw()?),
        }
        Ok(())
    })?;
    if let Some(member) = tag {
        return Ok(Decision::Tag {
            member,
            types,
            cases,
            absent,
            others,
        });
    }
    if let (Some(member), Some(decision)) = (within, inner) {
        return Ok(Decision::Within { member, decision });
    }
    Ok(Decision::Has {
        discriminators: discriminators.leak(),
        decisions,
        otherwise: otherwise.ok_or_else(|| reader.missing("otherwise"))?,
        needs: needs.leak(),
    })
}

fn case(reader: &mut Source) -> Decoded<(Discriminator, Decision)> {
    let (mut member, mut types, mut required, mut chosen) = ("", Vec::new(), Vec::new(), None);
    each(reader, |reader, key| {
        match &*key {
            "member" => member = string(reader)?,
            "kinds" => types = json_types(reader)?,
            "needs" => required = list(reader, string)?,
            _ => chosen = Some(decision(reader)?),
        }
        Ok(())
    })?;
    let discriminator = Discriminator {
        member,
        types: types.leak(),
        required: required.leak(),
    };
    Ok((discriminator, chosen.ok_or_else(|| reader.missing("is"))?))
}

fn json_types(reader: &mut Source) -> Decoded<Vec<JsonType>> {
    list(reader, |reader| Ok(json_type(string(reader)?)))
}

fn json_type(name: &str) -> JsonType {
    let types = [
        JsonType::Boolean,
        JsonType::Number,
        JsonType::String,
        JsonType::Array,
        JsonType::Object,
    ];
    types
        .into_iter()
        .find(|json_type| json_type.name() == name)
        .unwrap_or(JsonType::Null)
}
