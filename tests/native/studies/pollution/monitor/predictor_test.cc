// Predictions by context.
#include "studies/pollution/monitor/predictor.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace halo::watch {
namespace {

constexpr ContextIndex kContext = 0;
constexpr uint64_t kBytes = 5000;

class PredictorTest : public ::testing::Test {
 protected:
  void see(Type type) { predictor.learn(kContext, predictor.predict(kContext), type); }

  // Objects that are skipped until the next watched one.
  int skipped(uint64_t bytes = kBytes) {
    int count = 0;
    while (!predictor.chooses(kContext, bytes, now)) ++count;
    return count;
  }

  uint64_t now = 0;
  Parameters parameters;
  Predictor predictor{parameters, 1};
};

TEST_F(PredictorTest, TwoPollutersAreConfined) {
  EXPECT_EQ(Mapping::kOpen, predictor.predict(kContext));
  see(Type::kPolluter);
  EXPECT_EQ(Mapping::kOpen, predictor.predict(kContext));
  see(Type::kPolluter);
  EXPECT_EQ(Mapping::kRestrictive, predictor.predict(kContext));
  see(Type::kNormal);
  EXPECT_EQ(Mapping::kOpen, predictor.predict(kContext));
}

TEST_F(PredictorTest, OtherContextsAreNeitherConfinedNorWatched) {
  EXPECT_EQ(Mapping::kOpen, predictor.predict(7));
  EXPECT_FALSE(predictor.chooses(7, kBytes, now));
  predictor.learn(7, Mapping::kOpen, Type::kPolluter);
}

TEST_F(PredictorTest, ConfirmedPredictionsSkipTwiceAsManyUpToALimit) {
  see(Type::kNormal);
  see(Type::kNormal);
  uint32_t expected = 1;
  for (int round = 0; round < 15; ++round) {
    see(Type::kNormal);
    EXPECT_EQ(int(expected), skipped());
    expected = 2 * expected < parameters.max_interval ? 2 * expected : parameters.max_interval;
  }
  EXPECT_EQ(15u, predictor.score().confirmed);
  see(Type::kPolluter);
  EXPECT_EQ(1u, predictor.score().wrong);
  EXPECT_EQ(0, skipped());
}

TEST_F(PredictorTest, AnObjectOfAnotherSizeIsWatchedAndForgetsTheOlderOne) {
  EXPECT_EQ(0, skipped());
  for (int round = 0; round < 5; ++round) see(Type::kPolluter);
  EXPECT_EQ(0, skipped(2 * kBytes));
  EXPECT_EQ(Mapping::kOpen, predictor.predict(kContext));
  see(Type::kPolluter);
  EXPECT_EQ(Mapping::kRestrictive, predictor.predict(kContext));
}

TEST_F(PredictorTest, LargeObjectsAndOldContextsAreAlwaysWatched) {
  const uint64_t large = parameters.always_bytes;
  EXPECT_EQ(0, skipped(large));
  for (int round = 0; round < 6; ++round) see(Type::kNormal);
  EXPECT_EQ(0, skipped(large));
  EXPECT_EQ(0, skipped(kBytes));
  for (int round = 0; round < 6; ++round) see(Type::kNormal);
  now += parameters.stale_us;
  EXPECT_EQ(0, skipped());
}

TEST_F(PredictorTest, SmallObjectsAreNeverWatched) {
  for (int round = 0; round < 100; ++round) EXPECT_FALSE(predictor.chooses(kContext, 64, now));
  EXPECT_TRUE(predictor.chooses(kContext, 65, now));
}

}  // namespace
}  // namespace halo::watch
