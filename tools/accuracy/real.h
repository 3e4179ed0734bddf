// Real numbers of 400 bits, whose formulas may cancel, and functions of double of the same names,
// so that a formula is written once for both.
#ifndef TG_TOOLS_ACCURACY_REAL_H_
#define TG_TOOLS_ACCURACY_REAL_H_

#include <mpfr.h>

#include <cmath>

namespace tg::accuracy {

class Real {
 public:
  static constexpr mpfr_prec_t kPrecision = 400;

  Real() { mpfr_init2(v_, kPrecision); }
  Real(double d) : Real() { mpfr_set_d(v_, d, MPFR_RNDN); }  // NOLINT: as double converts
  explicit Real(mpfr_srcptr from) : Real() { mpfr_set(v_, from, MPFR_RNDN); }
  Real(const Real& other) : Real(other.v_) {}
  Real& operator=(const Real& other) {
    mpfr_set(v_, other.v_, MPFR_RNDN);
    return *this;
  }
  ~Real() { mpfr_clear(v_); }

  mpfr_ptr get() { return v_; }
  mpfr_srcptr get() const { return v_; }

 private:
  mpfr_t v_;
};

#define TG_REAL_OPERATOR(op, call)                        \
  inline Real operator op(const Real& a, const Real& b) { \
    Real r;                                               \
    call(r.get(), a.get(), b.get(), MPFR_RNDN);           \
    return r;                                             \
  }
TG_REAL_OPERATOR(+, mpfr_add)
TG_REAL_OPERATOR(-, mpfr_sub)
TG_REAL_OPERATOR(*, mpfr_mul)
TG_REAL_OPERATOR(/, mpfr_div)
#undef TG_REAL_OPERATOR

inline Real operator-(const Real& a) {
  Real r;
  mpfr_neg(r.get(), a.get(), MPFR_RNDN);
  return r;
}
inline bool operator<(const Real& a, const Real& b) { return mpfr_less_p(a.get(), b.get()) != 0; }

#define TG_REAL_FUNCTION(name, call, std_name) \
  inline Real name(const Real& a) {            \
    Real r;                                    \
    call(r.get(), a.get(), MPFR_RNDN);         \
    return r;                                  \
  }                                            \
  inline double name(double a) { return std::std_name(a); }
TG_REAL_FUNCTION(Acos, mpfr_acos, acos)
TG_REAL_FUNCTION(Acosh, mpfr_acosh, acosh)
TG_REAL_FUNCTION(Asin, mpfr_asin, asin)
TG_REAL_FUNCTION(Asinh, mpfr_asinh, asinh)
TG_REAL_FUNCTION(Atan, mpfr_atan, atan)
TG_REAL_FUNCTION(Atanh, mpfr_atanh, atanh)
TG_REAL_FUNCTION(Cos, mpfr_cos, cos)
TG_REAL_FUNCTION(Cosh, mpfr_cosh, cosh)
TG_REAL_FUNCTION(Erf, mpfr_erf, erf)
TG_REAL_FUNCTION(Exp, mpfr_exp, exp)
TG_REAL_FUNCTION(Expm1, mpfr_expm1, expm1)
TG_REAL_FUNCTION(Log, mpfr_log, log)
TG_REAL_FUNCTION(Log1p, mpfr_log1p, log1p)
TG_REAL_FUNCTION(Sin, mpfr_sin, sin)
TG_REAL_FUNCTION(Sinh, mpfr_sinh, sinh)
TG_REAL_FUNCTION(Sqrt, mpfr_sqrt, sqrt)
TG_REAL_FUNCTION(Tan, mpfr_tan, tan)
TG_REAL_FUNCTION(Tanh, mpfr_tanh, tanh)
TG_REAL_FUNCTION(Abs, mpfr_abs, fabs)
#undef TG_REAL_FUNCTION

#define TG_REAL_FUNCTION(name, call, std_name)     \
  inline Real name(const Real& a, const Real& b) { \
    Real r;                                        \
    call(r.get(), a.get(), b.get(), MPFR_RNDN);    \
    return r;                                      \
  }                                                \
  inline double name(double a, double b) { return std::std_name(a, b); }
TG_REAL_FUNCTION(Fmod, mpfr_fmod, fmod)
TG_REAL_FUNCTION(Pow, mpfr_pow, pow)
#undef TG_REAL_FUNCTION

}  // namespace tg::accuracy

#endif  // TG_TOOLS_ACCURACY_REAL_H_
