// mul, add
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void E_1(__global int* restrict data0, __global const int* restrict data1,
         __global const int* restrict data2, __global const int* restrict data3) {
  const int v0 = data1[0];
  const int v1 = data2[0];
  const int v2 = data3[0];
  data0[0] = (int)((uint)v0 * v1 + v2);
}
