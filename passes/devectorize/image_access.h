// Accesses to an image's elements as accesses to its texels.
//
// Element i of an image of width w stands in texel (i / 4 % w, i / (4 w)), in channel i % 4. Lanes
// that want channels of one texel share its load. Outside the image a load reads 0, so a part of a
// gate that only keeps the place inside is not needed: where it fails, the place is outside.
#ifndef TG_PASSES_DEVECTORIZE_IMAGE_ACCESS_H_
#define TG_PASSES_DEVECTORIZE_IMAGE_ACCESS_H_

#include "ir/builder.h"
#include "passes/devectorize/lanes.h"
#include "passes/devectorize/linear.h"

namespace tg {

// Whether `address`, an `index` node, gives elements of an image by their numbers.
bool AddressesImageElements(const UOp* address);

// Element `element` of `image`, 0 where `gate` (null: always) does not hold.
LaneRef LoadImageElement(Builder& b, LinearBuilder& linear, const UOp* image, const Linear& element,
                         const UOp* gate);

// The address of the texel that element `first`, a multiple of 4, begins.
const UOp* TexelAddress(Builder& b, LinearBuilder& linear, const UOp* image, const Linear& first,
                        const UOp* gate);

}  // namespace tg

#endif  // TG_PASSES_DEVECTORIZE_IMAGE_ACCESS_H_
