// mul, reduce_add
// i0:32 global, i1:64 global, i2:128 global, r0:12 reduce, r1:3 reduce, r2:3 reduce
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void r_32_64_128_12_3_3(__global float* restrict data0, __global const float* restrict data1,
                        __global const float* restrict data2) {
  const int gid0 = get_group_id(0);  // < 128
  const int gid1 = get_group_id(1);  // < 64
  const int gid2 = get_group_id(2);  // < 32
  float acc0 = 0.0f;
  const int v0 = gid0 * 2 + gid1 * 512;
  const int v1 = gid2 * 108;
  for (int i0 = 0; i0 < 12; i0++) {
    const int v2 = v0 + i0 * 32768;
    const int v3 = v1 + i0 * 9;
    for (int i1 = 0; i1 < 3; i1++) {
      const int v4 = v2 + i1 * 256;
      const bool v5 = 0 < gid1 + i1;
      const int v6 = v3 + i1 * 3;
      for (int i2 = 0; i2 < 3; i2++) {
        const float v7 = v5 && 0 < gid0 + i2 ? data1[v4 + i2 - 257] : 0.0f;
        const float v8 = data2[v6 + i2];
        acc0 = acc0 + v7 * v8;
      }
    }
  }
  data0[gid0 + gid1 * 128 + gid2 * 8192] = acc0;
}
