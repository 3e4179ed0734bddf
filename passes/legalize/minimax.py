"""Prints the coefficients of passes/legalize/function_tables.h.

    minimax.py

Each polynomial minimises the largest relative error of the function that it is part of (the
exchange algorithm of Remez, in 60 digits; needs mpmath). Its error is printed with it.
"""

import struct

import mpmath as mp

mp.mp.dps = 60


def minimax(function, weight, low, high, terms):
    """Coefficients c, low to high, that minimise the largest |weight(x) * (function(x) - sum c[k] x^k)|.

    Returns them with that error.
    """
    count = terms + 1
    points = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (i + mp.mpf(1) / 2) / count)
              for i in range(count)]
    for _ in range(12):
        system, values = mp.matrix(count, count), mp.matrix(count, 1)
        for i, x in enumerate(points):
            for k in range(terms):
                system[i, k] = x**k
            system[i, terms] = (-1)**i / weight(x)
            values[i] = function(x)
        solution = mp.lu_solve(system, values)
        coefficients = [solution[k] for k in range(terms)]

        def error(x):
            return weight(x) * (function(x) - mp.polyval(coefficients[::-1], x))

        # The extrema between the sign changes, on a grid that is refined around each.
        steps = 60 * count
        grid = [low + (high - low) * i / steps for i in range(steps + 1)]
        errors = [error(x) for x in grid]
        extrema = []
        for i, e in enumerate(errors):
            left = errors[i - 1] if i else None
            right = errors[i + 1] if i < steps else None
            if all(n is None or abs(e) >= abs(n) or n * e < 0 for n in (left, right)):
                a, b = grid[max(i - 1, 0)], grid[min(i + 1, steps)]
                for _ in range(40):
                    c, d = a + (b - a) / 3, b - (b - a) / 3
                    if abs(error(c)) < abs(error(d)):
                        a = c
                    else:
                        b = d
                x = (a + b) / 2
                if not extrema or error(extrema[-1]) * error(x) < 0:
                    extrema.append(x)
                elif abs(error(x)) > abs(error(extrema[-1])):
                    extrema[-1] = x
        while len(extrema) > count:
            extrema.pop(0 if abs(error(extrema[0])) < abs(error(extrema[-1])) else -1)
        if len(extrema) < count:
            break
        points = extrema
    return coefficients, max(abs(error(x)) for x in points)


def single(x):
    return struct.unpack("f", struct.pack("f", float(x)))[0]


def show(name, function, weight, low, high, terms):
    coefficients, error = minimax(function, weight, mp.mpf(low), mp.mpf(high), terms)
    print(f"// {name}: relative error 2^{float(mp.log(error, 2)):.1f}")
    print("{" + ", ".join(float(c).hex() for c in coefficients) + "}")


def series(function, x, tiny):
    """function(x), which near 0 is a difference of almost equal numbers, with digits to spare."""
    with mp.workdps(150):
        return +function(mp.mpf(x) if abs(x) > tiny else mp.mpf(tiny))


def exp2_tail(x):
    return series(lambda t: (mp.mpf(2)**t - 1) / t, x, mp.mpf(10)**-40)


# 2 atanh(s) = 2s + s z (2/3 + z Q(z)), z = s*s
def log_tail(z):
    def f(t):
        s = mp.sqrt(t)
        return ((2 * mp.atanh(s) / s - 2) / t - mp.mpf(2) / 3) / t
    return series(f, z, mp.mpf(10)**-30)


def sin_tail(z):  # sin(r) = r + r z S(z)
    return series(lambda t: (mp.sin(mp.sqrt(t)) / mp.sqrt(t) - 1) / t, z, mp.mpf(10)**-40)


def cos_tail(z):  # cos(r) = 1 - z/2 + z z C(z)
    return series(lambda t: (mp.cos(mp.sqrt(t)) - 1 + t / 2) / t**2, z, mp.mpf(10)**-40)


def main():
    quarter = (mp.pi / 4)**2 * (1 + mp.mpf(2)**-20)
    s_max = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1))**2 * (1 + mp.mpf(2)**-20)
    for kind, (exp2, log2, sin, cos) in {"f32": (7, 4, 4, 3), "f64": (13, 10, 7, 6)}.items():
        print(f"// ---- {kind}")
        show("exp2", exp2_tail, lambda x: x / mp.mpf(2)**x if x else mp.mpf(10)**-30,
             -0.5 - mp.mpf(2)**-10, 0.5 + mp.mpf(2)**-10, exp2)
        show("log2", log_tail, lambda z: z * z / 2 + mp.mpf(10)**-40, 0, s_max, log2)
        show("sin", sin_tail, lambda z: z + mp.mpf(10)**-40, 0, quarter, sin)
        show("cos", cos_tail, lambda z: z * z / mp.cos(mp.sqrt(z)) + mp.mpf(10)**-40, 0, quarter,
             cos)
    with mp.workdps(500):
        bits = int(mp.floor(2 / mp.pi * mp.mpf(2)**1280))
    words = [(bits >> (1280 - 32 * (i + 1))) & 0xffffffff for i in range(40)]
    print("// 2/pi: bits of weight 2^-1 and below, 32 a word")
    print(", ".join(f"0x{w:08x}" for w in words))


main()
