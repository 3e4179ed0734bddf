"""The counter of integer operations, on kernels that were counted by hand.

    opencl_cost_test.py OPENCL_COST TG_OPT FOLDER
"""

import glob
import importlib.util
import os
import subprocess
import sys
import unittest

spec = importlib.util.spec_from_file_location("opencl_cost", sys.argv[1])
opencl_cost = importlib.util.module_from_spec(spec)
spec.loader.exec_module(opencl_cost)

HEAD = "__kernel void k(__global float* data0, __global const float* restrict data1, const int n) {\n"


class OpenClCost(unittest.TestCase):
    def count(self, body, helpers=""):
        """(loads, operations) as written, of a kernel without loops."""
        costs = opencl_cost.measure(helpers + HEAD + body + "\n}\n")
        self.assertEqual(list(costs), ["k"])
        return costs["k"][:2]

    def test_addresses(self):
        self.assertEqual(self.count("data0[n] = 1.0f;"), (0, 0))
        self.assertEqual(self.count("data0[n * 4 + 3] = data1[n - 1];"), (1, 3))
        # The first + of a pointer is the subscript.
        self.assertEqual(self.count("*(data0+n) = *(data1+(n<<2)+3);"), (1, 2))
        self.assertEqual(self.count("*(data0 + n) = *((__global float*)((data1+(n+3))));"), (1, 1))

    def test_vectors(self):
        self.assertEqual(
            self.count("const float4 v = *(__global const float4*)(data1 + n * 4);\n"
                       "*(__global float4*)(data0 + n * 4) = v.s0 * v + (float4)(v.x, v.y, 0.0f, 1.0f);"),
            (1, 2))
        self.assertEqual(self.count("int4 i = (int4)(n, n + 1, n + 2, n + 3); data0[0] = (float)i.s1;"),
                         (0, 3))

    def test_gates(self):
        # Two comparisons, an and, a choice, and the subtraction.
        self.assertEqual(self.count("data0[n] = 2 < n && n < 9 ? data1[n - 3] : 0.0f;"), (1, 5))
        # tinygrad's spelling of 2 < n: not (n < 3).
        self.assertEqual(self.count("bool a = (((n<3)!=1)&(n<9)); "
                                    "*(data0+n) = (a?*(data1+(n+-3)):0.0f);"), (1, 6))
        self.assertEqual(self.count("if (n < 3) { data0[n] = 0.0f; } else data0[n + 1] = 1.0f;"), (0, 2))

    def test_floats_are_free(self):
        self.assertEqual(
            self.count("float a = data1[n]; float b = (a<0.0f)?-a:a*2.0f; "
                       "bool c = (a < b) | (b != b); data0[n] = ((a < b) | (b != b)) ? exp2(b) : -b;"),
            (1, 0))

    def test_integers_of_data(self):
        self.assertEqual(self.count("int a = -n % 3; uint b = (uint)a ^ ~(uint)n; "
                                    "data0[n] = (float)(int)b;"), (0, 4))
        self.assertEqual(self.count("int a = max(n, 3) - 1; a += n; data0[a] = 0.0f;"), (0, 3))

    def test_calls(self):
        helper = "static inline int twice(int x) {\n  return x * 2 + 1;\n}\n"
        self.assertEqual(self.count("data0[twice(n)] = 0.0f;", helper), (0, 2))

    def test_memory(self):
        self.assertEqual(
            self.count("__local float tile[16] __attribute__((aligned(16)));\n"
                       "__attribute__ ((aligned (16))) __local float temp0[16];\n"
                       "float acc[4];\n"
                       "tile[n] = 0.0f; barrier(CLK_LOCAL_MEM_FENCE);\n"
                       "*(temp0+n) = tile[n] + acc[1]; acc[2] = *(temp0+3);"), (2, 0))
        # A value's bits.
        self.assertEqual(self.count("float a = data1[0]; int b = (*((int*)&a)); data0[b & 7] = a;"),
                         (1, 1))

    def test_loops_and_work_items(self):
        source = (HEAD + "  const int gid0 = get_group_id(0);  // < 8\n"
                  "  int lidx0 = get_local_id(0); /* 4 */\n"
                  "  const int v0 = gid0 * 16;\n"
                  "  for (int i0 = 0; i0 < 5; i0++) {\n"
                  "    for (int i1 = 0; i1 < 3; i1++) {\n"
                  "      data0[v0 + i1] = data1[v0 + i0 * 3 + i1];\n"
                  "    }\n"
                  "    data0[i0] = 0.0f;\n"
                  "  }\n"
                  "  for (int i = 0; i < n; ++i) { data0[i + 1] = 0.0f; }\n}\n")
        cost = opencl_cost.measure(source)["k"]
        self.assertEqual(cost, (1, 6, 32 * 15, 32 * (1 + 15 * 4 + opencl_cost.UNKNOWN_TRIP)))

    def test_what_is_not_known_is_an_error(self):
        for body in ("data0[m] = 0.0f;", "do { } while (n);", "data0[n] = 0.0f", "goto end;"):
            with self.assertRaises(ValueError, msg=body):
                self.count(body)

    def test_everything_that_tg_prints_is_read(self):
        graphs = glob.glob(os.path.join(FOLDER, "*.repr"))
        self.assertGreater(len(graphs), 10)
        for path in graphs:
            for target in ("cl-cpu", "cl-gpu", "cl-nvidia-sm90"):
                with self.subTest(path=path, target=target):
                    source = subprocess.run([TG_OPT, path, "--emit=opencl", "--target=" + target],
                                            stdout=subprocess.PIPE, text=True, check=True).stdout
                    if "mma.sync" in source:  # matrix instructions are no operations of OpenCL C
                        continue
                    costs = opencl_cost.measure(source)
                    self.assertEqual(len(costs), source.count("__kernel "))
                    self.assertTrue(all(cost.run_ints >= cost.ints for cost in costs.values()))


TG_OPT, FOLDER = sys.argv[2:4]
if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
