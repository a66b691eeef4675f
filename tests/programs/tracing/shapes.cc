// Classes with bases, virtual functions, templates and exceptions, and a map.
#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

namespace drawing {

struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
  int id = 0;
};

struct Square : Shape {
  double side = 3;
  double area() const override { return side * side; }
};

class Picture {
 public:
  void add(int id) {
    shapes_.push_back(std::make_unique<Square>());
    shapes_.back()->id = id;
  }
  double area() const {
    double sum = 0;
    for (const auto& shape : shapes_) sum += shape->area();
    return sum;
  }

 private:
  std::vector<std::unique_ptr<Shape>> shapes_;
};

}  // namespace drawing

namespace {

std::map<int, long> counts;
std::atomic<long> updates;

struct Guard {
  ~Guard() { ++updates; }
};

[[noreturn, gnu::noinline]] void refuse(int number) {
  throw std::out_of_range(std::to_string(number));
}

[[gnu::noinline]] int guarded(int number) {
  const Guard guard;
  if (number > 1) refuse(number);
  return number;
}

}  // namespace

int main(int count, char**) {
  drawing::Picture picture;
  for (int id = 0; id < 3; ++id) picture.add(id);
  counts[count] = 5;
  int caught = 0;
  try {
    guarded(count + 1);
  } catch (const std::out_of_range&) {
    caught = 1;
  }
  auto* numbers = new std::unique_ptr<int>[count + 3];
  delete[] numbers;
  std::printf("%g %ld %d %ld\n", picture.area(), counts[1], caught, updates.load());
}
