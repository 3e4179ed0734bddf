"""Counts integer operations and loads in OpenCL C as compilers of tensor programs print it.

    python3 opencl_cost.py KERNELS.cl ...

One line for each kernel: its loads, its operations on integers, and both again as executed, weighted
by the trip counts of the enclosing loops and the number of work-items (from the comments that tg and
tinygrad print behind get_group_id and get_local_id). The text determines the counts:

- an operation: + - * / % << >> & | ^ ~ ! && || and comparisons, all of integers or bools; a choice
  (?:) between integers, or one that guards a load. Signs of constants, casts, the subscript of an
  access (or the first + of a pointer), and a loop's own counting are free. Comparisons of floats
  and operations on the resulting bools are not counted;
- a load: one access to __global or __local memory that is read.

Both count once, however many lanes they have.

A call of a function that the text defines costs what its body costs. Anything that the grammar
below does not know is an error (ValueError), never skipped.
"""

import collections
import re
import sys

Type = collections.namedtuple("Type", "kind lanes")  # kind: int, float, void, or the Type pointed to
Cost = collections.namedtuple("Cost", "loads ints run_loads run_ints")

# A loop whose bounds are not constants counts as this many iterations.
UNKNOWN_TRIP = 16
TOKEN = re.compile(r"""
    (?P<number>(?:0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)[a-zA-Z]*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|&&|\|\||<<|>>|<=|>=|==|!=|\+\+|--|[-+*/&|^]=|[-+*/%<>=!&|^~?:;,.(){}\[\]])
  | (?P<space>\s+)
""", re.X)
BINARY = {"*": 10, "/": 10, "%": 10, "+": 9, "-": 9, "<<": 8, ">>": 8, "<": 7, "<=": 7, ">": 7,
          ">=": 7, "==": 6, "!=": 6, "&": 5, "^": 4, "|": 3, "&&": 2, "||": 1}
COMPARE = {"<", "<=", ">", ">=", "==", "!="}
QUALIFIERS = {"const", "restrict", "volatile", "static", "inline", "__kernel", "unsigned", "signed",
              "__private"}
SPACES = {"__global", "__local", "__constant"}
INTEGERS = {"bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "size_t"}
FLOATS = {"half", "float", "double"}
TYPE_NAME = re.compile(r"(%s)(\d*)(_u)?$" % "|".join(sorted(INTEGERS | FLOATS, key=len, reverse=True)))
INT, FLOAT, VOID = Type("int", 1), Type("float", 1), Type("void", 1)


def parse_type_name(name):
    """Returns the Type of a word, or None if it is none."""
    if name == "void":
        return VOID
    found = TYPE_NAME.match(name)
    if not found:
        return None
    return Type("int" if found.group(1) in INTEGERS else "float", int(found.group(2) or 1))


class Reader:
    """Recursive descent over one function; adds up what it reads, weighted by the loops around."""

    def __init__(self, tokens, helpers, sizes):
        self.tokens, self.at = tokens, 0
        self.helpers = helpers
        self.names = {}
        self.weight = 1
        for size in sizes:
            self.weight *= size
        self.total = [0, 0, 0, 0]

    # --- tokens
    def peek(self, ahead=0):
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else ""

    def take(self, expected=None):
        token = self.peek()
        if expected is not None and token != expected:
            raise ValueError("expected %r, found %r after %r" % (
                expected, token, " ".join(self.tokens[max(0, self.at - 12):self.at])))
        self.at += 1
        return token

    def taken(self, token):
        if self.peek() == token:
            self.at += 1
            return True
        return False

    # --- counting
    def count_ints(self, number):
        self.total[1] += number
        self.total[3] += number * self.weight

    def count_load(self):
        self.total[0] += 1
        self.total[2] += self.weight

    # --- types
    def at_type(self, ahead=0):
        token = self.peek(ahead)
        return token in QUALIFIERS or token in SPACES or parse_type_name(token) is not None

    def type(self):
        """Qualifiers, a name, stars. A pointer's Type has the pointee as its kind, and lanes 0
        where what it points to costs nothing (private memory)."""
        space, found = False, None
        while self.at_type() or self.peek() == "__attribute__":
            token = self.take()
            if token == "__attribute__":
                self.skip_parentheses()
            elif token in SPACES:
                space = True
            elif token == "unsigned" and not self.at_type():
                found = INT
            elif parse_type_name(token):
                found = parse_type_name(token)
        if found is None:
            raise ValueError("no type before %r" % self.peek())
        while self.taken("*"):
            found = Type(found, 1 if space else 0)
            while self.peek() in QUALIFIERS:
                self.take()
        self.memory = space
        return found

    def skip_parentheses(self):
        self.take("(")
        depth = 1
        while depth:
            depth += {"(": 1, ")": -1}.get(self.take(), 0)

    # --- expressions: each returns (Type, additions to a pointer, is it an access?)
    def value(self, result):
        """The Type of a result that is read: an access that is read is a load."""
        kind, additions, access = result
        if access:
            self.count_load()
        self.count_ints(max(0, additions - 1))
        return kind

    def expression(self):
        return self.value(self.choice())

    def choice(self):
        condition = self.binary(1)
        if not self.taken("?"):
            return condition
        self.value(condition)
        loads = []
        kinds = []
        for end in (":", None):
            branch = self.choice()
            loads.append(branch[2])
            kinds.append(self.value(branch))
            if end:
                self.take(end)
        kind = max(kinds, key=lambda k: k.lanes)
        if kind.kind == "int" or any(loads):
            self.count_ints(1)
        return kind, 0, False

    def binary(self, lowest):
        left = self.unary()
        while BINARY.get(self.peek(), 0) >= lowest:
            sign = self.take()
            right = self.binary(BINARY[sign] + 1)
            left = self.combine(sign, left, right)
        return left

    def combine(self, sign, left, right):
        if isinstance(left[0].kind, Type):
            self.value(right)
            return left[0], left[1] + 1, False
        left, right = self.value(left), self.value(right)
        lanes = max(left.lanes, right.lanes)
        if sign in COMPARE or sign in ("&&", "||"):
            if "float" in (left.kind, right.kind):
                # Comparisons of floats, and operations on their results, are not integer work.
                return Type("float", lanes), 0, False
            self.count_ints(1)
            return Type("int", lanes), 0, False
        if "float" in (left.kind, right.kind):
            return Type("float", lanes), 0, False
        self.count_ints(1)
        return Type("int", lanes), 0, False

    def unary(self):
        token = self.peek()
        if token in ("-", "+", "!", "~"):
            self.take()
            constant = re.match(r"[\d.]", self.peek())
            kind = self.value(self.unary())
            if kind.kind == "int" and not constant:
                self.count_ints(1)
            return kind, 0, False
        if token == "&":
            self.take()
            kind, _, _ = self.unary()
            return Type(kind, 0), 0, False
        if token == "*":
            self.take()
            kind, additions, _ = self.unary()
            self.count_ints(max(0, additions - 1))
            if not isinstance(kind.kind, Type):
                raise ValueError("what * reads is no pointer")
            return kind.kind, 0, kind.lanes > 0
        if token == "(" and self.at_type(1):
            return self.cast()
        return self.postfix()

    def cast(self):
        self.take("(")
        kind = self.type()
        self.take(")")
        if self.peek() == "(" and not self.at_type(1) and not isinstance(kind.kind, Type):
            self.take("(")
            self.arguments()
            return self.suffixes((kind, 0, False))
        inner = self.unary()
        if isinstance(kind.kind, Type):
            private = isinstance(inner[0].kind, Type) and inner[0].lanes == 0
            return Type(kind.kind, 0 if private else 1), inner[1], False
        self.value(inner)
        return kind, 0, False

    def arguments(self):
        """Values up to the closing parenthesis; returns their types."""
        kinds = []
        while not self.taken(")"):
            kinds.append(self.expression())
            self.taken(",")
        return kinds

    def postfix(self):
        token = self.take()
        if token == "(":
            inner = self.choice()
            self.take(")")
            return self.suffixes(inner)
        if re.match(r"\.?\d", token):
            is_float = not token.lower().startswith("0x") and re.search(r"[.eEf]", token)
            return (FLOAT if is_float else INT), 0, False
        if not re.match(r"[A-Za-z_]", token):
            raise ValueError("%r in an expression" % token)
        if self.taken("("):
            return self.suffixes((self.call(token, self.arguments()), 0, False))
        if token in ("true", "false") or re.match(r"U?(CHAR|SHRT|INT|LONG)_(MIN|MAX)$", token):
            return INT, 0, False
        if token not in self.names:
            if token in ("INFINITY", "NAN", "smp") or token.startswith("CLK_"):
                return FLOAT, 0, False
            raise ValueError("%s is not declared" % token)
        return self.suffixes((self.names[token], 0, False))

    def call(self, name, kinds):
        """The Type of a call's result."""
        if name in self.helpers:
            kind, cost = self.helpers[name]
            self.total[0] += cost.loads
            self.total[2] += cost.loads * self.weight
            self.count_ints(cost.ints)
            return kind
        converted = re.match(r"(?:convert|as)_([a-z]+\d*)", name)
        if converted:
            return parse_type_name(converted.group(1))
        if name.startswith(("get_", "isequal", "isless", "isnan", "isnotequal")):
            return INT
        vector = re.match(r"vload(\d+)", name)
        if vector:
            self.count_load()
            return Type("float", int(vector.group(1)))
        if name.startswith(("read_image", "vload")):
            self.count_load()
            return Type("float", 4 if name.startswith("read") else 1)
        kind = max(kinds, key=lambda k: (k.kind == "float", k.lanes)) if kinds else VOID
        lanes = max([k.lanes for k in kinds], default=1)
        if kind.kind == "int" and name not in ("barrier", "any", "all"):
            self.count_ints(1)
        return Type(kind.kind, lanes)

    def suffixes(self, result):
        while True:
            if self.taken("["):
                kind = self.value((result[0], result[1] + 1, False)) if result[1] else result[0]
                self.expression()
                self.take("]")
                if not isinstance(kind.kind, Type):
                    result = Type(kind.kind, 1), 0, result[2]
                else:
                    result = kind.kind, 0, kind.lanes > 0
            elif self.peek() == "." and re.match(r"(s[0-9a-fA-F]+|[xyzwabcd]+|lo|hi|even|odd)$", self.peek(1)):
                self.take()
                lanes = self.take()
                kind, _, access = result
                number = kind.lanes // 2 if lanes in ("lo", "hi", "even", "odd") else len(lanes) - lanes.startswith("s")
                result = Type(kind.kind, number), 0, access
            else:
                return result

    # --- statements
    def block(self):
        self.take("{")
        while not self.taken("}"):
            self.statement()

    def body(self):
        self.block() if self.peek() == "{" else self.statement()

    def statement(self):
        if self.peek() == "{":
            self.block()
        elif self.taken("for"):
            self.loop()
        elif self.taken("if"):
            self.take("(")
            self.expression()
            self.take(")")
            self.body()
            if self.taken("else"):
                self.body()
        elif self.taken("return"):
            if self.peek() != ";":
                self.expression()
            self.take(";")
        elif self.at_type() or self.peek() == "__attribute__":
            self.declaration()
        elif not self.taken(";"):
            self.assignment()
            self.take(";")

    def declaration(self):
        kind = self.type()
        memory = self.memory
        while True:
            name = self.take()
            if self.peek() == "[":
                while self.taken("["):
                    self.expression()
                    self.take("]")
                self.names[name] = Type(kind, 1 if memory else 0)
                while self.peek() == "__attribute__":
                    self.take()
                    self.skip_parentheses()
            else:
                self.names[name] = kind
            if self.taken("="):
                if self.peek() == "{":
                    self.take()
                    while not self.taken("}"):
                        self.expression()
                        self.taken(",")
                else:
                    self.expression()
            if not self.taken(","):
                break
        self.take(";")

    def assignment(self):
        target = self.choice()
        sign = self.take()
        if sign == ";":  # a call
            self.at -= 1
            return
        if sign in ("++", "--"):
            self.count_ints(1)
            return
        kind = target[0]
        self.count_ints(max(0, target[1] - 1))
        if sign != "=":
            if target[2]:
                self.count_load()
            if kind.kind == "int":
                self.count_ints(1)
        self.expression()

    def loop(self):
        self.take("(")
        self.type()
        name = self.take()
        self.names[name] = INT
        self.take("=")
        start = self.bound()
        self.take(";")
        self.take(name)
        sign = self.take()
        end = self.bound()
        self.take(";")
        if self.taken("++"):
            self.take(name)
            step = 1
        else:
            self.take(name)
            step = 1 if self.taken("++") else (self.take("+="), self.bound())[1]
        self.take(")")
        trips = UNKNOWN_TRIP
        if None not in (start, end, step):
            trips = max(0, -(-(end + (sign == "<=") - start) // step))
        outer, self.weight = self.weight, self.weight * trips
        self.body()
        self.weight = outer

    def bound(self):
        """A loop's bound: its value where it is a constant, else None; it is counted."""
        start = self.at
        self.expression()
        text = "".join(self.tokens[start:self.at])
        return int(text) if re.match(r"-?\d+$", text) else None


def tokenize(text):
    tokens, at = [], 0
    while at < len(text):
        found = TOKEN.match(text, at)
        if not found:
            raise ValueError("cannot read %r" % text[at:at + 40])
        if not found.group("space"):
            tokens.append(found.group())
        at = found.end()
    return tokens


def measure(source):
    """Returns {kernel: Cost} of a text with any number of functions and kernels."""
    sizes = collections.defaultdict(list)
    lines = []
    for line in source.splitlines():
        found = re.search(r"get_(?:group|local|global)_id\(\d\);\s*(?:/\* (\d+) \*/|// < (\d+))", line)
        if found:
            sizes[len(lines)].append(int(found.group(1) or found.group(2)))
        line = "" if re.match(r"\s*(#|typedef)", line) else line
        lines.append(re.sub(r"//.*|/\*.*?\*/", "", line))
    text = "\n".join(lines)
    costs, helpers = {}, {}
    at, head_of_function = 0, re.compile(r"^[\w \t\n()*,]*?\b(\w+)\s*\(([^()]*)\)\s*\{", re.M)
    while found := head_of_function.search(text, at):
        at = end = match_brace(text, found.end() - 1)
        first, last = text.count("\n", 0, found.start()), text.count("\n", 0, end)
        here = [size for line in range(first, last + 1) for size in sizes[line]]
        head = found.group()
        is_kernel = "__kernel" in head or "kernel void" in head
        body = text[found.end() - 1:end]
        # A helper that is one instruction of the device's has no loads, and no arithmetic on integers.
        body = re.sub(r"\basm(?: volatile)?\((?:[^()]|\([^()]*\))*\);", "", body)
        reader = Reader(tokenize(body), helpers, here if is_kernel else [])
        for argument in filter(str.strip, found.group(2).split(",")):
            parser = Reader(tokenize(argument), {}, [])
            if "image2d_t" in argument:
                reader.names[argument.split()[-1]] = FLOAT
            else:
                kind = parser.type()
                reader.names[parser.take()] = kind
        reader.block()
        cost = Cost(*reader.total)
        if is_kernel:
            costs[found.group(1)] = cost
        else:
            result = Reader(tokenize(head[:head.index(found.group(1) + "(")]), {}, []).type()
            helpers[found.group(1)] = (result, cost)
    return costs


def match_brace(text, at):
    """Returns the position behind the brace that closes the one at `at`."""
    depth = 0
    for found in re.finditer(r"[{}]", text[at:]):
        depth += 1 if found.group() == "{" else -1
        if depth == 0:
            return at + found.end()
    raise ValueError("a brace is not closed")


def main():
    print("%-40s %6s %6s %14s %14s %9s" % ("kernel", "loads", "ints", "run loads", "run ints", "ints/load"))
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            costs = measure(file.read())
        for name, cost in costs.items():
            print("%-40s %6d %6d %14d %14d %9.2f" % (name, *cost, cost.run_ints / max(1, cost.run_loads)))


if __name__ == "__main__":
    main()
