// Filters of lists, in sequence_filters.cc, for the table in filters.cc.
#ifndef TG_FRONTEND_TOKENIZER_JINJA_FILTERS_H_
#define TG_FRONTEND_TOKENIZER_JINJA_FILTERS_H_

#include "frontend/tokenizer/jinja/function.h"

namespace tg::jinja {

Value Length(Evaluator& evaluator, const Arguments& arguments);
Value First(Evaluator& evaluator, const Arguments& arguments);
Value Last(Evaluator& evaluator, const Arguments& arguments);
Value ToList(Evaluator& evaluator, const Arguments& arguments);
Value Reverse(Evaluator& evaluator, const Arguments& arguments);
Value JoinFilter(Evaluator& evaluator, const Arguments& arguments);
Value ItemsFilter(Evaluator& evaluator, const Arguments& arguments);
Value DictSort(Evaluator& evaluator, const Arguments& arguments);
Value Sort(Evaluator& evaluator, const Arguments& arguments);
Value Unique(Evaluator& evaluator, const Arguments& arguments);
Value Sum(Evaluator& evaluator, const Arguments& arguments);
Value Least(Evaluator& evaluator, const Arguments& arguments);
Value Greatest(Evaluator& evaluator, const Arguments& arguments);
Value MapFilter(Evaluator& evaluator, const Arguments& arguments);
Value Select(Evaluator& evaluator, const Arguments& arguments);
Value Reject(Evaluator& evaluator, const Arguments& arguments);
Value SelectAttribute(Evaluator& evaluator, const Arguments& arguments);
Value RejectAttribute(Evaluator& evaluator, const Arguments& arguments);

}  // namespace tg::jinja

#endif  // TG_FRONTEND_TOKENIZER_JINJA_FILTERS_H_
