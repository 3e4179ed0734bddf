// Lowers accesses to elements of an image to accesses to texels.
//
// Element i of an image of width w is in texel (i / 4 % w, i / (4 w)), in channel i % 4. Lanes that
// read channels of one texel share its load. A load outside the image reads 0, so a clause of a
// gate that only checks the bounds of the image is redundant.
#ifndef TG_PASSES_DEVECTORIZE_IMAGE_ACCESS_H_
#define TG_PASSES_DEVECTORIZE_IMAGE_ACCESS_H_

#include "ir/builder.h"
#include "passes/devectorize/affine_builder.h"
#include "passes/devectorize/lane_origins.h"

namespace tg::devectorize {

// Whether `address`, an `index` node, addresses elements of an image by their numbers, not texels
// by their coordinates.
bool AddressesImageElements(const UOp* address);

// Loads element `element` of `image`; the value is 0 where `gate` (null: always true) is false.
LaneRef LoadImageElement(Builder& b, AffineBuilder& linear, const UOp* image,
                         const AffineExpr& element, const UOp* gate);

// The address, under `gate` (null: always true), of the texel whose first element is `first`, a
// multiple of 4.
const UOp* TexelAddress(Builder& b, AffineBuilder& linear, const UOp* image,
                        const AffineExpr& first, const UOp* gate);

}  // namespace tg::devectorize

#endif  // TG_PASSES_DEVECTORIZE_IMAGE_ACCESS_H_
