// The context of a decompression by zstd.
#pragma once

#include <zstd.h>

#include <memory>

namespace halo::trace {

struct FreeDecompressor {
  void operator()(ZSTD_DCtx* zstd) const { ZSTD_freeDCtx(zstd); }
};
using Decompressor = std::unique_ptr<ZSTD_DCtx, FreeDecompressor>;

}  // namespace halo::trace
