//! The language of users' templates: the syntax of the template engine's
//! parser, without everything that could make a value larger than its inputs.
//! The syntax tree is traversed without recursion, because it may be very deep.

use minijinja::machinery::ast::{BinOpKind, Call, CallArg, Expr, ForLoop, Stmt};
use minijinja::machinery::{Span, parse};

use super::engine;
use crate::Invalid;

/// Names, constants and operators in one expression.
pub(super) const MAX_EXPRESSION_SIZE: usize = 500;
/// Nested statements; each `elif` is one more.
pub(super) const MAX_NESTING: usize = 150;

/// Whether a template may be compiled and rendered.
pub(super) fn check(source: &str) -> Result<(), Invalid> {
    let syntax = engine::user_environment().syntax().clone();
    let tree = parse(source, "template", syntax).map_err(|error| engine::explain(&error))?;
    let mut pending = vec![(&tree, 0)];
    while let Some((statement, depth)) = pending.pop() {
        if depth > MAX_NESTING {
            return Err(Invalid::new(format!("must not nest more than {MAX_NESTING} tags")));
        }
        let bodies: [&[Stmt<'_>]; 2] = match statement {
            Stmt::Template(template) => [&template.children, &[]],
            Stmt::EmitRaw(_) => continue,
            Stmt::EmitExpr(emit) => {
                check_expression(&emit.expr)?;
                continue;
            }
            Stmt::IfCond(condition) => {
                check_expression(&condition.expr)?;
                [&condition.true_body, &condition.false_body]
            }
            Stmt::ForLoop(looped) => {
                check_loop(looped, looped.span())?;
                [&looped.body, &looped.else_body]
            }
            Stmt::WithBlock(tag) => return Err(unknown_tag("with", tag.span())),
            Stmt::Set(tag) => return Err(unknown_tag("set", tag.span())),
            Stmt::SetBlock(tag) => return Err(unknown_tag("set", tag.span())),
            Stmt::AutoEscape(tag) => return Err(unknown_tag("autoescape", tag.span())),
            Stmt::FilterBlock(tag) => return Err(unknown_tag("filter", tag.span())),
            Stmt::Do(tag) => return Err(unknown_tag("do", tag.span())),
        };
        pending.extend(bodies.into_iter().flatten().map(|inner| (inner, depth + 1)));
    }
    Ok(())
}

fn check_loop(looped: &ForLoop<'_>, at: Span) -> Result<(), Invalid> {
    if looped.recursive {
        return Err(not_allowed("recursive loops", at));
    }
    if !matches!(looped.target, Expr::Var(_)) {
        return Err(not_allowed("more than one name for the items of a loop", at));
    }
    check_expression(&looped.iter)?;
    looped.filter_expr.as_ref().map_or(Ok(()), check_expression)
}

fn check_expression(root: &Expr<'_>) -> Result<(), Invalid> {
    let mut pending = vec![root];
    let mut size = 0;
    while let Some(expression) = pending.pop() {
        size += 1;
        if size > MAX_EXPRESSION_SIZE {
            return Err(Invalid::new(format!(
                "must not have an expression with more than {MAX_EXPRESSION_SIZE} parts, in line {}",
                root.span().start_line
            )));
        }
        match expression {
            Expr::Var(_) | Expr::Const(_) => {}
            // A single instruction that copies a whole text: `truncate` does it
            // within the budget.
            Expr::Slice(slice) => return Err(not_allowed("slices (use truncate)", slice.span())),
            Expr::UnaryOp(unary) => pending.push(&unary.expr),
            Expr::BinOp(binary) => {
                if let Some(sign) = builds_values(binary.op) {
                    return Err(joins(sign, binary.span()));
                }
                pending.extend([&binary.left, &binary.right]);
            }
            Expr::Compare(compare) => {
                pending.push(&compare.expr);
                pending.extend(compare.ops.iter().map(|op| &op.expr));
            }
            Expr::IfExpr(choice) => {
                pending.extend([&choice.test_expr, &choice.true_expr]);
                pending.extend(&choice.false_expr);
            }
            Expr::Filter(filter) => {
                pending.extend(&filter.expr);
                pending.extend(positional(&filter.args, filter.span())?);
            }
            Expr::Test(test) => {
                pending.push(&test.expr);
                pending.extend(positional(&test.args, test.span())?);
            }
            Expr::GetAttr(get) => pending.push(&get.expr),
            Expr::GetItem(get) => pending.extend([&get.expr, &get.subscript_expr]),
            Expr::Call(call) if is_method_of_loop(call) => {
                pending.extend(positional(&call.args, call.span())?);
            }
            Expr::Call(call) => return Err(not_allowed("calls", call.span())),
            Expr::List(list) => return Err(joins("[", list.span())),
            Expr::Tuple(tuple) => return Err(joins(",", tuple.span())),
            Expr::Map(map) => return Err(joins("{", map.span())),
        }
    }
    Ok(())
}

/// The sign of an operator that makes values longer than its operands.
fn builds_values(op: BinOpKind) -> Option<&'static str> {
    match op {
        BinOpKind::Add => Some("+"),
        BinOpKind::Mul => Some("*"),
        BinOpKind::Pow => Some("**"),
        BinOpKind::Concat => Some("~"),
        BinOpKind::Eq
        | BinOpKind::Ne
        | BinOpKind::Lt
        | BinOpKind::Lte
        | BinOpKind::Gt
        | BinOpKind::Gte
        | BinOpKind::ScAnd
        | BinOpKind::ScOr
        | BinOpKind::Sub
        | BinOpKind::Div
        | BinOpKind::FloorDiv
        | BinOpKind::Rem
        | BinOpKind::In => None,
    }
}

/// `loop.changed(x)` and `loop.cycle(x)`: without arguments the latter panics.
fn is_method_of_loop(call: &Call<'_>) -> bool {
    let Expr::GetAttr(get) = &call.expr else { return false };
    matches!(&get.expr, Expr::Var(name) if name.id == "loop")
        && ["changed", "cycle"].contains(&get.name)
        && !call.args.is_empty()
}

fn positional<'a, 's>(args: &'a [CallArg<'s>], at: Span) -> Result<Vec<&'a Expr<'s>>, Invalid> {
    let expression = |arg: &'a CallArg<'s>| match arg {
        CallArg::Pos(expression) => Ok(expression),
        CallArg::Kwarg(..) | CallArg::PosSplat(_) | CallArg::KwargSplat(_) => {
            Err(not_allowed("arguments with names or stars", at))
        }
    };
    args.iter().map(expression).collect()
}

fn unknown_tag(tag: &str, at: Span) -> Invalid {
    let line = at.start_line;
    Invalid::new(format!(
        "must not use {{% {tag} %}}: there are if, elif, else and for, in line {line}"
    ))
}

fn not_allowed(what: &str, at: Span) -> Invalid {
    Invalid::new(format!("must not use {what}, in line {}", at.start_line))
}

fn joins(sign: &str, at: Span) -> Invalid {
    let line = at.start_line;
    Invalid::new(format!(
        "must not use {sign} inside its tags: write texts next to each other instead of joining \
         them, in line {line}"
    ))
}
