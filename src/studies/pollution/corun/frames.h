// Frames of physical memory for the pages of a program, by colour: the bits that the numbers of
// frames and of cache sets have in common (NightWatch, section 2.1).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/random.h"

namespace halo::corun {

// A power of two of colours, of which confined pages use those from `first` up to `end`.
struct Colours {
  uint32_t count = 0;
  uint32_t first = 0;
  uint32_t end = 0;
};

// A page has a frame for its open objects and another one for the confined ones: an allocator with
// two pools never has both on a page. Consecutive open pages use all colours in a random order,
// confined ones those of the restricted range one after the other.
class Frames {
 public:
  // `pages`: numbers of pages are below it. `serial` numbers the frames of all programs.
  Frames(const Colours& colours, uint64_t pages, uint64_t seed, uint32_t& serial)
      : colours_(colours),
        serial_(serial),
        order_(colours.count),
        frames_{std::vector<uint32_t>(pages), std::vector<uint32_t>(pages)} {
    for (uint32_t colour = 0; colour < colours.count; ++colour) order_[colour] = colour;
    base::Random(seed).shuffle(order_.data(), order_.size());
  }

  // `address`: of the page, over its size.
  uint32_t frame_of(uint32_t page, uint64_t address, bool confined) {
    uint32_t& frame = frames_[confined][page];
    if (frame == 0) [[unlikely]]
      frame = new_frame(confined ? confined_colour() : order_[address % colours_.count]);
    return frame;
  }

  // All pages get other frames, as those of another process.
  void renew() {
    for (std::vector<uint32_t>& frames : frames_) frames.assign(frames.size(), 0);
  }

 private:
  uint32_t new_frame(uint32_t colour) { return ++serial_ * colours_.count + colour; }
  uint32_t confined_colour() {
    return colours_.first + confined_++ % (colours_.end - colours_.first);
  }

  Colours colours_;
  uint32_t& serial_;
  std::vector<uint32_t> order_;                  // of colours
  std::array<std::vector<uint32_t>, 2> frames_;  // open and confined, by page; 0: none yet
  uint32_t confined_ = 0;                        // pages so far
};

}  // namespace halo::corun
