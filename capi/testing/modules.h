/* Modules that the tests in C open. */
#ifndef TG_CAPI_TESTING_MODULES_H_
#define TG_CAPI_TESTING_MODULES_H_

/* y = sum of the rows of x, for any number of rows. */
static const char kSum[] =
    "tg 1\n"
    "module @sum\n"
    "var @n : [1, 8]\n"
    "buffer @x : f32[@n, 3] input\n"
    "buffer @y : f32[3] output\n"
    "graph @main {\n"
    "  %x = buffer @x : f32\n"
    "  %0 = reduce_axis %x {op = add, axes = [0]} : f32\n"
    "  %1 = reshape %0 {shape = [3]} : f32\n"
    "  sink %1 -> @y\n"
    "}\n";

/* Two graphs: main adds x to the state s, set replaces it. */
static const char kState[] =
    "tg 1\n"
    "module @two\n"
    "buffer @x : f32[2, 3] input\n"
    "buffer @s : f32[2, 3] state\n"
    "graph @set {\n"
    "  %x = buffer @x : f32\n"
    "  %s = buffer @s : f32\n"
    "  %0 = assign %s, %x : f32\n"
    "  sink %0\n"
    "}\n"
    "graph @main {\n"
    "  %x = buffer @x : f32\n"
    "  %s = buffer @s : f32\n"
    "  %0 = add %s, %x : f32\n"
    "  %1 = assign %s, %0 : f32\n"
    "  sink %1\n"
    "}\n";

#endif  // TG_CAPI_TESTING_MODULES_H_
