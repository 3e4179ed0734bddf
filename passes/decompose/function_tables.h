// Coefficients of the written-out functions, by passes/decompose/minimax.py: each polynomial has
// the least possible greatest error, relative to the function that it is a part of.
#ifndef TG_PASSES_DECOMPOSE_FUNCTION_TABLES_H_
#define TG_PASSES_DECOMPOSE_FUNCTION_TABLES_H_

#include <cstdint>
#include <span>

namespace tg {

struct FunctionTables {
  std::span<const double> exp2;  // 2^x = 1 + x P(x), |x| <= 1/2
  std::span<const double> log2;  // 2 atanh(s) = 2s + s z (2/3 + z P(z)), z = s^2 <= 3 - 2 sqrt 2
  std::span<const double> sin;   // sin r = r + r z P(z), z = r^2, |r| <= pi/4
  std::span<const double> cos;   // cos r = 1 - z/2 + z^2 P(z)
};

namespace tables_internal {

// Relative errors 2^-32.0, 2^-44.3, 2^-37.6, 2^-33.0.
inline constexpr double kExp2F32[] = {
    0x1.62e4300bf203dp-1,  0x1.ebfbe04658e65p-3,  0x1.c6b054abfb67ap-5, 0x1.3b2a1abefff12p-7,
    0x1.5dc08a0b0f09fp-10, 0x1.4440ccc6241d0p-13, 0x1.c048824fbadb4p-17};
inline constexpr double kLog2F32[] = {0x1.999998600fe7ap-2, 0x1.249373eed00fep-2,
                                      0x1.c6595f43e6c06p-3, 0x1.8eb37a1876353p-3};
inline constexpr double kSinF32[] = {-0x1.5555554cbacfdp-3, 0x1.11110896f5e57p-7,
                                     -0x1.a00f9e31b7490p-13, 0x1.6cd879fabd56ep-19};
inline constexpr double kCosF32[] = {0x1.55554a115927dp-5, -0x1.6c0c33a6c0bf6p-10,
                                     0x1.99eb9be4ef5eep-16};

// Relative errors 2^-68.2, 2^-88.0, 2^-68.8, 2^-64.0.
inline constexpr double kExp2F64[] = {
    0x1.62e42fefa39efp-1,  0x1.ebfbdff82c58fp-3,  0x1.c6b08d704a0c1p-5,  0x1.3b2ab6fba4e7bp-7,
    0x1.5d87fe78a6232p-10, 0x1.430912f86ac0bp-13, 0x1.ffcbfc5aae84dp-17, 0x1.62c022461c46bp-20,
    0x1.b525361ebec18p-24, 0x1.e4cf03400e8b5p-28, 0x1.e8e15bef7fa77p-32, 0x1.c4b67922ac36ap-36,
    0x1.6615bc4c8bb12p-40};
inline constexpr double kLog2F64[] = {
    0x1.999999999999ap-2, 0x1.2492492492493p-2, 0x1.c71c71c71c5cap-3, 0x1.745d1745e3f86p-3,
    0x1.3b13b1314de54p-3, 0x1.1111145cf74f0p-3, 0x1.e1e06d7862aafp-4, 0x1.af5de35bcb960p-4,
    0x1.814c098869384p-4, 0x1.a22b3a4ed5cd0p-4};
inline constexpr double kSinF64[] = {
    -0x1.5555555555555p-3,  0x1.111111111110bp-7,  -0x1.a01a01a018ae9p-13, 0x1.71de3a5339e3ep-19,
    -0x1.ae645298dd699p-26, 0x1.61209316ed545p-33, -0x1.aaa5778e30290p-41};
inline constexpr double kCosF64[] = {0x1.555555555554bp-5,  -0x1.6c16c16c14f91p-10,
                                     0x1.a01a019c844e7p-16, -0x1.27e4f7eac4102p-22,
                                     0x1.1ee9d7b46bf31p-29, -0x1.8fa499c8cade8p-37};

}  // namespace tables_internal

inline constexpr FunctionTables kTablesF32 = {tables_internal::kExp2F32, tables_internal::kLog2F32,
                                              tables_internal::kSinF32, tables_internal::kCosF32};
inline constexpr FunctionTables kTablesF64 = {tables_internal::kExp2F64, tables_internal::kLog2F64,
                                              tables_internal::kSinF64, tables_internal::kCosF64};

// 2/pi: 32 bits a word, the first of weight 2^-1.
inline constexpr uint32_t kTwoOverPi[] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046};

}  // namespace tg

#endif  // TG_PASSES_DECOMPOSE_FUNCTION_TABLES_H_
