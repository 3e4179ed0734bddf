// mul, reduce_add
// i0:4 local, i1:4 local, r0:4 unroll
__kernel __attribute__((reqd_work_group_size(4, 4, 1)))
void r_4_4_4(__global float* restrict data0, __global const float* restrict data1,
             __global const float* restrict data2) {
  const int lid0 = get_local_id(0);  // < 4
  const int lid1 = get_local_id(1);  // < 4
  const int v0 = lid1 * 4;
  const float4 v1 = *(__global const float4*)(data1 + v0);
  const float v2 = data2[lid0];
  const float v3 = data2[lid0 + 8];
  const float v4 = data2[lid0 + 4];
  const float v5 = data2[lid0 + 12];
  data0[lid0 + v0] = v1.s0 * v2 + v1.s2 * v3 + (v1.s1 * v4 + v1.s3 * v5);
}
