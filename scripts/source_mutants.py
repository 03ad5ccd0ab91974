#!/usr/bin/env python3
"""Puts many mistakes that designers make into one SystemVerilog module; one of them is selected at run time.

    source_mutants.py --module M --out DIR [-n 20] [--seed 1] [-I dir]... [--shape NAME=VALUE,...]... source.sv ...

Needs pyslang (scripts/bootstrap.sh --mutants). The module is elaborated in every shape on the command line, because a generate branch may exist in
some shapes only. Writes into DIR
    M.sv           the module with all mutants and the variable mutant_sel inside; 0 selects the original. With the macro MUTANT_SEL=K the
                   selection is a constant
    mutants.json   what each value of mutant_sel does, where, and in which shapes it exists

Each mutant is one or a few edits of the form "old" -> "(mutant_sel == K) ? (new) : (old)", or a statement that is left out when it is selected. The
operators ensure that "new" has the sign of "old" and is not wider, so that "old" keeps its width in the ternary. An edit only inserts text, so that
edits can be nested.
"""
import argparse, collections, json, os, random, re, sys
import pyslang
from pyslang import ast, driver

SEL, SELW = "mutant_sel", 16
E, S, K, B = ast.ExpressionKind, ast.StatementKind, ast.SymbolKind, ast.BinaryOperator
# Registers that hold an arbitration order, an age, a count or a position.
TURNS = re.compile(r"(turn|rr|ptr|head|tail|last|next|scan|oldest|order|older|age|count|first)\w*_q$")
RESET, CLOCK = "rst_ni", "clk_i"


def elaborate(a, shape, defines, sources):
    d = driver.Driver(); d.addStandardArgs()
    words = ["slang", "--top", a.module, "-Wnone"]
    for i in a.I: words += ["-I", i]
    for m in defines: words += ["-D", m]
    for g in filter(None, shape.split(",")): words += ["-G", g]
    if not d.parseCommandLine(" ".join(words + sources)) or not d.processOptions() or not d.parseAllSources():
        sys.exit(f"{a.module}: the sources cannot be parsed")
    c = d.createCompilation()
    for error in [e for e in c.getAllDiagnostics() if e.isError()]:
        sm, at = c.sourceManager, c.sourceManager.getFullyOriginalLoc(error.location)
        what = pyslang.DiagnosticEngine(sm).formatMessage(error)
        sys.exit(f"{sm.getFileName(at)}:{sm.getLineNumber(at)}: {what} (with {shape or 'no parameters'})")
    return c


class Module:
    """The candidates in one elaboration of a module."""

    def __init__(self, compilation, name, path, text):
        self.c, self.sm, self.name, self.path, self.text = compilation, compilation.sourceManager, name, path, text
        (self.top,) = [i for i in compilation.getRoot().topInstances if i.name == name]
        self.found = {}                                      # key -> candidate
        self.constant = 0                                    # nesting depth in expressions that have to stay constant
        self.signals = {}                                    # name -> declaration of a variable or net of the module itself
        self.functions = set(re.findall(r"\b(\w+)\s*\(", " ".join(re.findall(r"\b(?:localparam|parameter)\b[^;]*", text))))
        # Verilator refuses a function that it may not inline but that reads a variable of the module, as mutant_sel is.
        apart = [b for b in re.findall(r"\bfunction\b.*?\bendfunction\b", text, re.S) if "no_inline_task" in b]
        self.functions |= set(re.findall(r"\b(\w+)\s*\(", " ".join(apart)))
        self.instances = []                                  # each instance's module, and the text of its inputs
        for m in self.top.body:
            if m.kind in (K.Variable, K.Net): self.signals[m.name] = m
        self.reads(self.top.body)
        self.procedure = None                                # kind of the procedure that is being walked
        self.assigned = None                                 # text of the assignment's left side

    # ---------------------------------------------------------------- text
    def span(self, node):
        """Start and end in the text of the module's file; None if the node is from another file or from a macro."""
        r = node.sourceRange
        for at in (r.start, r.end):
            if not self.sm.isFileLoc(at) or os.path.basename(self.sm.getFileName(at)) != os.path.basename(self.path): return None
        return (r.start.offset, r.end.offset) if r.start.offset < r.end.offset else None

    def of(self, node):
        at = self.span(node)
        return at and self.text[at[0]:at[1]]

    def line(self, offset): return self.text.count("\n", 0, offset) + 1

    def add(self, operator, node, new, shown=None, kind="expr", also=()):
        """Adds a candidate in which `node` becomes `new`. Kind "guard": the statement is left out if the condition `new` holds."""
        at = self.span(node)
        if at is None: return
        old = self.text[at[0]:at[1]]
        if kind == "expr" and new == old: return
        edits = [(kind, *at, new), *also]
        key = (operator, *at, new)
        if key in self.found: return
        one = lambda s: re.sub(r"\s+", " ", re.sub(r"//[^\n]*", "", s)).strip()
        what = one(shown if shown is not None else f"{old} -> {new}")
        self.found[key] = dict(operator=operator, line=self.line(at[0]), edits=edits, shown=what, readers=self.readers())

    def reads(self, scope):
        for m in scope:
            if m.kind == K.GenerateBlock and not m.isUninstantiated: self.reads(m)
            elif m.kind == K.GenerateBlockArray: [self.reads(e) for e in m.entries if not e.isUninstantiated]
            elif m.kind == K.Instance:
                inputs = [p.expression for p in m.portConnections if is_input(p) and p.expression is not None]
                self.instances.append((m.definition.name, " ".join(filter(None, map(self.of, inputs)))))

    def readers(self):
        """The instances' modules that read the assigned signal: a report may name them instead of the module that connects them."""
        assigned = self.assigned or ""
        if assigned.startswith("u_"): return [self.reader]
        name = re.match(r"\w*", assigned)[0]
        return sorted({module for module, text in self.instances if name and re.search(rf"\b{name}\b", text)})

    # ---------------------------------------------------------------- walk
    def walk(self):
        self.members(self.top.body)
        return self.found

    def members(self, scope):
        for m in scope:
            if m.kind == K.ContinuousAssign: self.assign(m)
            elif m.kind == K.ProceduralBlock:
                self.procedure = str(m.procedureKind)
                if not self.procedure.endswith("Initial") and not self.procedure.endswith("Final"): self.statement(m.body)
                self.procedure = None
            elif m.kind == K.GenerateBlock and not m.isUninstantiated: self.members(m)
            elif m.kind == K.GenerateBlockArray: [self.members(e) for e in m.entries if not e.isUninstantiated]
            elif m.kind == K.Subroutine and m.name not in self.functions: self.statement(m.body)
            elif m.kind == K.Instance: self.instance(m)

    def assign(self, m):
        a = m.assignment
        if a.kind != E.Assignment: return
        right = a.right
        self.assigned = self.of(a.left)
        self.value(right)
        self.late(m, a.left, strip(right))
        self.assigned = None

    def late(self, m, left, right):
        """The assigned value arrives a cycle later."""
        if CLOCK not in self.signals or not left.type.isIntegral or fixed_value(right): return
        if not re.search(r"(valid|ready|done|event|taken|goes|hit|want|fault|push|pop|req|grant|busy|idle|match)", self.assigned or ""): return
        at, here = self.span(right), self.span(m_syntax(m))
        if not at or not here: return
        n = "mutant_late_<K>"
        old = self.text[at[0]:at[1]]
        text = (f"logic [$bits({self.assigned})-1:0] {n}; always_ff @(posedge {CLOCK}) {n} <= ({old}); ")
        self.add("stage late by one", right, n, f"{self.assigned} = {old}, a cycle later", also=[("before", here[0], here[0], text)])

    def statement(self, s, reset=False, loops=(), siblings=()):
        k = s.kind
        if k == S.List:
            before = []
            for one in s.list:
                self.statement(one, reset, loops, before)
                if one.kind == S.Conditional: before.append(one)
        elif k == S.Block: self.statement(s.body, reset, loops)
        elif k == S.Timed: self.statement(s.stmt, reset, loops)
        elif k == S.Conditional:
            cond = s.conditions[0].expr
            text = self.of(cond) or ""
            is_reset = text.replace(" ", "") == f"!{RESET}"
            if not is_reset:
                self.value(cond)
                if siblings and s.ifFalse is None and cond.constant is None: self.lost(siblings[-1], s, cond, text)
            self.statement(s.ifTrue, is_reset or reset, loops)
            if s.ifFalse is not None: self.statement(s.ifFalse, reset, loops)
        elif k == S.Case:
            self.value(s.expr)
            for item in s.items: self.statement(item.stmt, reset, loops)
            if s.defaultCase is not None: self.statement(s.defaultCase, reset, loops)
        elif k == S.ForLoop: self.statement(s.body, reset, loops + (s,))
        elif k == S.ExpressionStatement: self.expression_statement(s, reset, loops)
        elif k == S.Return and s.expr is not None: self.value(s.expr)
        elif k == S.VariableDeclaration:
            if s.symbol.initializer is not None and s.symbol.initializer.constant is None: self.value(s.symbol.initializer)

    def lost(self, first, second, cond, text):
        """If two events occur in one cycle, the second is lost."""
        other = self.of(first.conditions[0].expr)
        if other is None or RESET in other or first.conditions[0].expr.constant is not None: return
        # Only where both act on something: their targets share a name, or one of them is a register.
        self.add("event lost", cond, f"({text}) && !({other})", f"if ({text}): not in a cycle of if ({other})")

    def expression_statement(self, s, reset, loops):
        a = s.expr
        if a.kind != E.Assignment: return
        left = self.of(a.left)
        if left is None: return
        clocked = (self.procedure or "").endswith("AlwaysFF")
        name = re.match(r"\w+", left)[0] if re.match(r"\w+", left) else ""
        if reset and clocked:
            self.add("reset forgotten", s, "1'b1", f"reset of {left} forgotten", "guard")
            if loops and self.last(loops[-1]):
                self.add("reset forgotten", s, self.last(loops[-1]), f"reset of {left} forgotten where {self.last(loops[-1])}", "guard")
            return
        self.assigned = left
        self.selectors(a.left)
        self.value(a.right)
        self.assigned = None
        if clocked and TURNS.search(name):
            for cond in self.conditions(left): self.add("turn not advanced", s, cond, f"{left} is not advanced when {cond}", "guard")

    def last(self, loop):
        """For a loop that counts up, the condition that this is its last iteration."""
        stop = strip(loop.stopExpr)
        if stop.kind != E.BinaryOp or stop.op != B.LessThan or not loop.loopVars: return None
        bound = self.of(strip(stop.right))
        return bound and f"32'({loop.loopVars[0].name}) == 32'({bound}) - 32'd1"

    def conditions(self, left):
        """Inputs and registers on which the update of an arbitration register may wrongly depend."""
        out = []
        for name, symbol in sorted(self.signals.items()):
            if name in (CLOCK, RESET) or name in left or not symbol.type.isIntegral: continue
            if re.search(r"(valid|ready|taken|stolen|flush|push|pop|write|hit|busy)\w*(_i|_q)$", name): out.append(f"(|{name})")
        return out

    def instance(self, m):
        """Exchanges two connections of an instance that have the same type, and mutates the connected expressions."""
        inputs = []
        for p in m.portConnections:
            x = p.expression
            if x is None or not is_input(p): continue
            at = self.span(x)
            if at is None or not connected(self.text, at): continue
            self.assigned, self.reader = f"{m.name}.{p.port.name}", m.definition.name
            self.value(x, connection=True)
            self.assigned = None
            inputs.append((p.port, x, at))
        here = self.span(m_syntax(m))
        for i, (p, x, at) in enumerate(inputs):
            for q, y, other in inputs[i + 1:]:
                if declared_port(p) != declared_port(q) or str(p.type) != str(q.type): continue
                old, new = self.text[at[0]:at[1]], self.text[other[0]:other[1]]
                if p.name in (CLOCK, RESET) or old == new: continue
                shown = f"{m.name}: connections of {p.name} and {q.name} exchanged"
                self.assigned, self.reader = m.name, m.definition.name
                if x.type.isIntegral and y.type.isIntegral:
                    if strip(x).constant is not None and strip(y).constant is not None: continue
                    self.add("connections exchanged", x, new, shown, also=[("expr", *other, old)])
                elif here and self.same_arrays(x, y):
                    copies, one = self.copies(x, y, old, new), "mutant_net_<K>"
                    self.add("connections exchanged", x, f"{one}a", shown, "copy", [("copy", *other, f"{one}b"), ("before", here[0], here[0], copies)])
        self.assigned = None

    def same_arrays(self, x, y):
        return x.kind == y.kind == E.NamedValue and declared(x.symbol) == declared(y.symbol) and declared(x.symbol) is not None

    def copies(self, x, y, old, new):
        kind, dims = declared(x.symbol)
        depth = dims.count("[")
        text = "".join(f"{kind} mutant_net_<K>{s} {dims}; " for s in "ab")
        index = "".join(f"[mutant_g{d}]" for d in range(depth))
        for d in range(depth):
            of = old + "[0]" * d
            text += f"for (genvar mutant_g{d} = 0; mutant_g{d} < $size({of}); mutant_g{d}++) begin : gen_mutant_<K>_{d} "
        text += f"assign mutant_net_<K>a{index} = ({SEL} == 16'd<K>) ? {new}{index} : {old}{index}; "
        text += f"assign mutant_net_<K>b{index} = ({SEL} == 16'd<K>) ? {old}{index} : {new}{index}; "
        return text + "end " * depth

    # ---------------------------------------------------------------- expressions
    def selectors(self, x):
        """Mutates the indices on the left of an assignment in a procedure, where they may be variables."""
        while x.kind in (E.ElementSelect, E.RangeSelect, E.MemberAccess):
            if x.kind == E.ElementSelect:
                if x.selector.constant is None and not genvar(x.selector): self.index(x); self.value(x.selector)
            x = x.value
        if x.kind == E.Concatenation:
            for one in x.operands: self.selectors(one)

    def value(self, x, connection=False):
        """Mutants of an expression that is read."""
        k = x.kind
        if k == E.Conversion and x.isImplicit: return self.value(x.operand, connection)
        if self.span(x) is None: return
        if k == E.Conversion: return self.value(x.operand)
        if x.constant is not None and k != E.BinaryOp: return self.number(x)
        if k == E.BinaryOp:
            if fixed_value(x): return
            self.binary(x); self.value(x.left)
            if x.op not in (B.Divide, B.Mod) or not fixed_value(x.right): self.value(x.right)
        elif k == E.UnaryOp: self.unary(x); self.value(x.operand)
        elif k == E.ConditionalOp:
            for c in x.conditions: self.value(c.expr)
            self.value(x.left); self.value(x.right)
        elif k == E.Concatenation: self.concatenation(x); [self.value(o) for o in x.operands]
        elif k == E.Replication: [self.value(o) for o in x.concat.operands]
        elif k in (E.NamedValue, E.ElementSelect, E.RangeSelect, E.MemberAccess): self.named(x, connection)
        elif k == E.Call:
            if not x.isSystemCall:
                for one in x.arguments: self.value(one)
            elif x.subroutineName in ("$signed", "$unsigned", "$countones"): self.value(x.arguments[0])

    def binary(self, x):
        l, r, op = strip(x.left), strip(x.right), x.op
        a, b = self.of_operand(x.left), self.of_operand(x.right)
        if a is None or b is None: return
        fixed = fixed_value(l) or fixed_value(r)
        comparisons = {B.Equality: "==", B.Inequality: "!=", B.LessThan: "<", B.LessThanEqual: "<=", B.GreaterThan: ">", B.GreaterThanEqual: ">="}
        if op in comparisons and l.type.isIntegral:
            sign, width = comparisons[op], l.type.bitWidth
            whole = l.type.bitWidth == r.type.bitWidth and not widened(l) and not widened(r) and not loop_variable(l) and not loop_variable(r)
            if whole and width > 1 and (l.constant is None or r.constant is None) and not unsized(l) and not unsized(r):
                cut = (f"{{(({a}) ^ ({b})) << 1}} {sign} '0" if sign in ("==", "!=") else f"{{({a}) << 1}} {sign} {{({b}) << 1}}")
                # The shift drops the top bit of both sides. A literal or parameter whose top bit is 0 is still compared in full.
                self.add("top bit lost", x, cut, f"{a} {sign} {b}: top bit not compared")
            near = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}.get(sign)
            if near: self.add("bound off by one", x, f"({a}) {near} ({b})", f"{a} {sign} {b} -> {a} {near} {b}")
            if sign in ("==", "!=") and width == 1:
                new = {"==": "!=", "!=": "=="}[sign]
                self.add("condition inverted", x, f"({a}) {new} ({b})", f"{a} {sign} {b} -> {a} {new} {b}")
        if fixed and op in (B.LogicalAnd, B.LogicalOr, B.BinaryAnd, B.BinaryOr): return
        if op in (B.LogicalAnd, B.LogicalOr):
            sign, other = ("&&", "||") if op == B.LogicalAnd else ("||", "&&")
            self.add("and for or", x, f"({a}) {other} ({b})", f"{a} {sign} {b} -> {other}")
            for kept, gone in ((a, b), (b, a)): self.add("term dropped", x, f"({kept}) && 1'b1", f"{a} {sign} {b}: without {gone}")
        same = x.type.isSigned == l.type.isSigned == r.type.isSigned
        if op in (B.BinaryAnd, B.BinaryOr) and same:
            sign, other = ("&", "|") if op == B.BinaryAnd else ("|", "&")
            self.add("and for or", x, f"({a}) {other} ({b})", f"{a} {sign} {b} -> {other}")
            for kept, gone in ((a, b), (b, a)): self.add("term dropped", x, f"({kept})", f"{a} {sign} {b}: without {gone}")
        if op in (B.Add, B.Subtract) and same and not fixed:
            sign = "+" if op == B.Add else "-"
            self.add("event lost" if self.counts(l, r) else "term dropped", x, f"({a})", f"{a} {sign} {b}: without {b}")

    def counts(self, l, r): return any(re.search(r"(push|pop|valid|done|taken|take|inc|dec)", self.of(s) or "") for s in (l, r))

    def of_operand(self, x): return self.of(strip(x))

    def unary(self, x):
        o = x.operand
        op = str(x.op).split(".")[-1]
        text = self.of_operand(o)
        if text is None or strip(o).constant is not None: return
        if op == "LogicalNot" and strip(o).type.bitWidth == 1: self.add("condition inverted", x, f"({text}) && 1'b1", f"!{text} -> {text}")
        if op == "BitwiseNot" and x.type.bitWidth == 1: self.add("condition inverted", x, f"({text})", f"~{text} -> {text}")

    def concatenation(self, x):
        ops = [(o, self.of(o)) for o in x.operands]
        if any(t is None for _, t in ops): return
        for i, (p, a) in enumerate(ops):
            for j in range(i + 1, len(ops)):
                q, b = ops[j]
                if p.type.bitWidth != q.type.bitWidth or a == b: continue
                parts = [t for _, t in ops]
                parts[i], parts[j] = b, a
                self.add("order of a concatenation", x, "{" + ", ".join(parts) + "}", f"{self.of(x)}: {a} and {b} exchanged")

    def number(self, x):
        """Constants off by one, where the language also allows a variable value."""
        if x.kind not in (E.IntegerLiteral, E.NamedValue) or genvar(x): return
        text = self.of(x)
        if x.kind == E.IntegerLiteral:
            m = re.fullmatch(r"(\d+'s?[dhb])?([0-9a-fA-F_]+)", text)
            if not m: return
            base = {"d": 10, "h": 16, "b": 2}[m[1][-1]] if m[1] else 10
            n, width = int(m[2].replace("_", ""), base), x.type.bitWidth
            for near in (n + 1, n - 1):
                if width == 1: near = 1 - n
                if 0 <= near < 1 << min(width, 31):
                    new = f"{m[1] or ''}{ {10: str, 16: lambda v: format(v, 'x'), 2: lambda v: format(v, 'b')}[base](near)}"
                    where = f" (of {self.assigned})" if self.assigned else ""
                    self.add("constant off by one", x, new, f"{text} -> {new}{where}")
        elif x.type.isIntegral and x.type.bitWidth == 32 and not x.type.isSigned and x.symbol.kind == K.Parameter:
            self.add("constant off by one", x, f"({text} - 32'd1)", f"{text} -> {text} - 1")

    def named(self, x, connection=False):
        """Mutates a signal's name, with or without selections."""
        base, chain = x, []
        while base.kind in (E.ElementSelect, E.RangeSelect, E.MemberAccess):
            chain.append(base); base = base.value
        for sel in chain:
            if sel.kind == E.ElementSelect:
                self.index(sel)
                self.value(sel.selector)
            elif sel.kind == E.RangeSelect and str(sel.selectionKind).endswith("IndexedUp") and strip(sel.left).constant is None:
                self.value(sel.left)
        if base.kind != E.NamedValue or not x.type.isIntegral: return
        name, text = base.symbol.name, self.of(x)
        if name not in self.signals or name in (CLOCK, RESET) or not text.startswith(name): return
        self.alike(x, name, text)
        # A stage early: only where this cannot create a combinational loop.
        clocked = (self.procedure or "").endswith("AlwaysFF")
        if name.endswith("_q") and (clocked or (self.procedure is None and (self.assigned or "").split("[")[0].endswith("_o"))):
            self.stage(x, name, name[:-2] + "_d", text, "stage early by one")
        if name.endswith("_d"): self.stage(x, name, name[:-2] + "_q", text, "stage late by one")

    def stage(self, x, name, other, text, operator):
        if other in self.signals and declared(self.signals[other]) == declared(self.signals[name]) and self.before(other, x):
            self.add(operator, x, other + text[len(name):])

    def before(self, name, x): return self.signals[name].location.offset < self.span(x)[0]

    def alike(self, x, name, text):
        """Uses another signal of the same type and a similar name: only registers and inputs, which cannot create a combinational loop."""
        mine = declared(self.signals[name])
        if mine is None: return
        for other, symbol in self.signals.items():
            if other == name or other in (CLOCK, RESET) or declared(symbol) != mine or not self.before(other, x): continue
            if not other.endswith(("_q", "_i")): continue
            if name.endswith("_i") and not other.endswith("_i"): continue
            if kinship(name, other) < 1: continue
            self.add("wrong one of two alike", x, other + text[len(name):])

    def index(self, sel):
        """An index plus one: if it selects a single bit, this is the neighbour's bit."""
        v, s = self.of(sel.value), self.of(strip_all(sel.selector))
        if v is None or s is None or not re.fullmatch(r"[\w\[\]\.\- ]+", v): return
        whole = sel.value.type
        if not whole.isIntegral and "[" in v: return
        size = f"$bits({v})" if whole.isIntegral else f"$size({v})"
        if whole.isIntegral and sel.type.bitWidth != 1: return
        if (whole.bitWidth if whole.isIntegral else whole.fixedRange.width) == 1: return
        selector = sel.selector
        while selector.kind == E.Conversion and selector.isImplicit: selector = selector.operand
        if selector.constant is not None and (self.assigned or "").startswith(v): return
        s = self.of(selector)
        operator = "valid of the neighbour" if sel.type.isIntegral and sel.type.bitWidth == 1 else "index plus one"
        self.add(operator, selector, f"((32'({s}) + 32'd1) % 32'({size}))", f"{v}[{s}] -> {v}[{s} + 1]" + (f" (of {self.assigned})" if self.assigned else ""))


# -------------------------------------------------------------------- helpers
def strip(x):
    while x.kind == E.Conversion and x.isImplicit: x = x.operand
    return x


strip_all = strip


def m_syntax(m):
    """The whole continuous assignment or instantiation in the source that a symbol belongs to."""
    s = m.syntax
    while s is not None and str(s.kind).split(".")[-1] not in ("ContinuousAssign", "HierarchyInstantiation"): s = s.parent
    return s


def genvar(x):
    x = strip(x)
    return x.kind == E.NamedValue and x.symbol.kind in (K.Genvar, K.Parameter) and (x.symbol.kind == K.Genvar or x.symbol.isLocalParam and x.symbol.parentScope is not None and not hasattr(x.symbol, "never") and is_generate_index(x.symbol))


def is_generate_index(symbol):
    return symbol.syntax is None or "Genvar" in str(symbol.syntax.kind) or "LoopGenerate" in str(symbol.syntax.kind)


def fixed_value(x):
    """Whether an expression consists of literals, parameters and generate indices only."""
    x = strip(x)
    if x.constant is not None or x.kind in (E.IntegerLiteral, E.UnbasedUnsizedIntegerLiteral): return True
    if x.kind == E.NamedValue: return x.symbol.kind in (K.Parameter, K.Genvar, K.EnumValue)
    if x.kind == E.BinaryOp: return fixed_value(x.left) and fixed_value(x.right)
    if x.kind in (E.UnaryOp, E.Conversion): return fixed_value(x.operand)
    return x.kind == E.Call and x.isSystemCall and x.subroutineName in ("$clog2", "$bits", "$size")


def loop_variable(x):
    return x.kind == E.NamedValue and (genvar(x) or str(x.type) in ("int", "int unsigned", "integer"))


def unsized(x): return x.constant is not None and x.kind == E.IntegerLiteral and x.isDeclaredUnsized


def widened(x): return x.kind == E.Conversion and not x.isImplicit


def words(name): return [w for w in re.split(r"_", re.sub(r"_[iqdo]$", "", name)) if w]


def kinship(a, b):
    """How many words two names share."""
    return len(set(words(a)) & set(words(b)))


def clean(text): return re.sub(r"\s+", " ", re.sub(r"//[^\n]*|/\*.*?\*/", "", str(text), flags=re.S)).strip()


def declared(symbol):
    """Type and dimensions of a declaration as text: declarations with equal text have equal types in every shape."""
    kind, syntax = getattr(symbol, "declaredType", None), symbol.syntax
    if kind is None or kind.typeSyntax is None or syntax is None: return None
    return clean(kind.typeSyntax), clean("".join(map(str, syntax.dimensions)) if hasattr(syntax, "dimensions") else "")


def declared_port(port):
    inner = port.internalSymbol
    return inner is not None and declared(inner)


def is_input(p): return p.port.kind == K.Port and str(p.port.direction).split(".")[-1] == "In"


def connected(text, at):
    """Whether a connection is written out: .port(expression)."""
    return text[:at[0]].rstrip().endswith("(") and text[at[1]:].lstrip().startswith(")")


def sample(cands, n, seed):
    """Takes candidates from the operators in turn, and for each operator from its lines in turn."""
    rng = random.Random(seed)
    tree = collections.defaultdict(lambda: collections.defaultdict(list))
    for c in cands: tree[c["operator"]][c["line"]].append(c)
    queues = []
    for operator in sorted(tree):
        lines = []
        for line in sorted(tree[operator]):
            rng.shuffle(tree[operator][line])
            lines.append(tree[operator][line])
        rng.shuffle(lines)
        queues.append(in_turn(lines))
    rng.shuffle(queues)
    out = in_turn(queues)
    return out if n == 0 else out[:n]


def in_turn(lists):
    return [l[i] for i in range(max(map(len, lists), default=0)) for l in lists if i < len(l)]


def declaration_end(module):
    """The offset after the semicolon of the module's header."""
    return module.top.body.definition.syntax.header.semi.range.end.offset


def mutated(text, picked, head):
    """The source with all mutants."""
    inserts = []                                             # offset, opens, length, text
    for m in picked:
        k = m["select"]
        is_k = f"{SEL} == {SELW}'d{k}"
        for kind, start, end, new in m["edits"]:
            new = new.replace("<K>", str(k))
            if kind == "before": inserts.append((start, 1, -(1 << 40), k, new)); continue
            if kind == "expr": opens, closes = f"(({is_k}) ? ({new}) : (", "))"
            elif kind == "guard": opens, closes = f"begin if (!({is_k} && ({new}))) ", " end"
            elif kind == "copy": opens, closes = f"{new}/*", "*/"
            inserts.append((start, 1, -(end - start), k, opens))
            inserts.append((end, 0, end - start, -k, closes))
    declare = (f"\n`ifdef MUTANT_SEL\n  localparam logic [{SELW}-1:0] {SEL} = `MUTANT_SEL;\n`else\n"
               f"  logic [{SELW}-1:0] {SEL};\n`endif\n")
    inserts.append((head, 0, 0, 0, declare))
    out, at = ["// Generated by source_mutants.py.\n// verilator lint_off WIDTH\n// verilator lint_off UNUSED\n// verilator lint_off UNDRIVEN\n"], 0
    for offset, *_, new in sorted(inserts, key=lambda i: i[:4]):
        out += [text[at:offset], new]
        at = offset
    return "".join(out + [text[at:]])


def compatible(picked, m):
    """A connection that is copied whole cannot have another mutant inside it."""
    copies = lambda c: [(e[1], e[2]) for e in c["edits"] if e[0] == "copy"]
    spans = lambda c: [(e[1], e[2]) for e in c["edits"] if e[0] != "before"]
    overlap = lambda one, two: any(a < d and c < b for a, b in one for c, d in two)
    return not any(overlap(copies(m), spans(p)) or overlap(copies(p), spans(m)) for p in picked)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--module", required=True); ap.add_argument("--out", required=True)
    ap.add_argument("-n", type=int, default=20, help="0 = every candidate")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("-I", action="append", default=[])
    ap.add_argument("--shape", action="append", default=[], help="parameters, NAME=VALUE,...")
    ap.add_argument("--operator", action="append", default=[], help="only these")
    ap.add_argument("sources", nargs="+")
    a = ap.parse_args()
    (path,) = [s for s in a.sources if os.path.splitext(os.path.basename(s))[0] == a.module]
    with open(path) as f: text = f.read()
    os.makedirs(a.out, exist_ok=True)
    if not text.isascii(): sys.exit(f"{path}: only ASCII sources can be mutated")
    shapes, found, exists = a.shape or [""], {}, collections.defaultdict(list)
    for number, shape in enumerate(shapes):
        # SYNTHESIS leaves assertions out: they are not mutated.
        compilation = elaborate(a, shape, ["SYNTHESIS"], a.sources)
        module = Module(compilation, a.module, path, text)
        for key, candidate in module.walk().items():
            found.setdefault(key, candidate)
            exists[key].append(number)
        head = declaration_end(module)
    for key, candidate in found.items(): candidate["shapes"] = exists[key]
    cands = [found[key] for key in sorted(found, key=lambda k: (k[1], k[2], k[0], k[3]))]
    if a.operator: cands = [c for c in cands if c["operator"] in a.operator]
    picked = []
    for m in sample(cands, 0, a.seed):
        if a.n and len(picked) == a.n: break
        if compatible(picked, m): picked.append(m)
    if len(picked) >= 1 << SELW: sys.exit("too many mutants for the select width")
    for k, m in enumerate(picked, 1):
        m["select"] = k
        m["description"] = f"{os.path.basename(path)}:{m['line']}: {m['operator']}: {m['shown']}"
    file = os.path.join(a.out, f"{a.module}.sv")
    with open(file, "w") as f: f.write(mutated(text, picked, head))
    # If slang cannot elaborate the result, this is a defect of this script, not a mutant that was detected.
    for shape in shapes: elaborate(a, shape, [], [file if s == path else s for s in a.sources])
    operators = collections.Counter(c["operator"] for c in cands)
    with open(os.path.join(a.out, "mutants.json"), "w") as f:
        json.dump(dict(module=a.module, shapes=shapes, seed=a.seed, candidates=dict(sorted(operators.items())), mutants=picked), f, indent=1)
    print(f"{a.module}: {len(cands)} candidates, {len(picked)} mutants")


if __name__ == "__main__":
    main()
