// A forked child and the parent's threads.
#include "record/engine.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <set>

namespace halo::record {
namespace {

// Like a fork of the recorded program; `in_child` returns whether it succeeded.
template <class InChild>
bool fork_and(Engine& engine, Producer* mine, InChild&& in_child) {
  engine.before_fork();
  const pid_t child = fork();
  if (child == 0) {
    engine.after_fork_in_child(mine);
    _exit(in_child() ? 0 : 1);
  }
  engine.after_fork_in_parent();
  int status = -1;
  waitpid(child, &status, 0);
  return status == 0;
}

class EngineTest : public testing::Test {
 protected:
  EngineTest() : folder_(testing::TempDir() + "engine." + std::to_string(getpid())) {
    std::filesystem::create_directories(folder_);
    options.out = folder_ + "/part";
    // Never destroyed: its consumer runs until the process ends.
    engine = new Engine(options);
  }
  ~EngineTest() override { std::filesystem::remove_all(folder_); }

  // A thread of the program that has ended, with all its records consumed.
  void end_a_thread() {
    engine->end_thread(engine->begin_thread());
    engine->write_part();
  }

  Options options;
  Engine* engine;

 private:
  const std::string folder_;
};

TEST_F(EngineTest, EachThreadOfAChildHasAProducerOfItsOwn) {
  Producer& mine = engine->begin_thread();
  engine->begin_thread();  // continues in the parent
  end_a_thread();
  EXPECT_TRUE(fork_and(*engine, &mine, [&] {
    engine->write_part();
    std::set<Producer*> producers{&mine};
    std::set<base::ThreadId> ids{mine.id()};
    for (int at = 0; at < 4; ++at) {
      Producer& producer = engine->begin_thread();
      producers.insert(&producer);
      ids.insert(producer.id());
      engine->write_part();
    }
    return producers.size() == 5 && ids.size() == 5 && base::index(*ids.rbegin()) == 4;
  }));
}

TEST_F(EngineTest, AChildOfAChildReusesTheIdsThatItsParentDidNot) {
  Producer& mine = engine->begin_thread();
  end_a_thread();
  EXPECT_TRUE(fork_and(*engine, &mine, [&] {
    return fork_and(*engine, &mine, [&] {
      return engine->begin_thread().id() == base::ThreadId{1} &&
             engine->begin_thread().id() == base::ThreadId{2};
    });
  }));
}

TEST_F(EngineTest, AForkByAThreadThatHasTouchedNothing) {
  end_a_thread();
  EXPECT_TRUE(fork_and(*engine, nullptr, [&] {
    engine->write_part();
    return engine->begin_thread().id() == base::ThreadId{0};
  }));
}

}  // namespace
}  // namespace halo::record
