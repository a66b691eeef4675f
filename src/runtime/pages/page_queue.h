// A doubly linked queue of one owner's pages; a page is in at most one queue.
#pragma once

#include "runtime/pages/arena.h"

namespace halo::runtime {

class PageQueue {
 public:
  // nullptr if the queue is empty.
  Page* front() const { return first_ == 0 ? nullptr : &arena.page_of(first_); }

  void push_back(Page& page) {
    const PageLink link = arena.link_of(page);
    page.next = 0;
    page.previous = last_;
    page.queued = true;
    (last_ == 0 ? first_ : arena.page_of(last_).next) = link;
    last_ = link;
  }

  void remove(Page& page) {
    (page.previous == 0 ? first_ : arena.page_of(page.previous).next) = page.next;
    (page.next == 0 ? last_ : arena.page_of(page.next).previous) = page.previous;
    page.queued = false;
  }

 private:
  PageLink first_ = 0, last_ = 0;
};

}  // namespace halo::runtime
