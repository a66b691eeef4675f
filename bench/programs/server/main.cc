// server: worker threads serve requests whose objects have very different lifetimes.
#include <cinttypes>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/args.h"
#include "common/checksum.h"
#include "common/rng.h"
#include "server/messages.h"
#include "server/queue.h"
#include "server/worker.h"

namespace {

using server::RequestPointer;
using server::ResponsePointer;

struct Load {
  uint64_t requests;
  uint32_t sessions;
  uint32_t resources;
};

// Few resources get most of the requests.
uint32_t draw_resource(Rng& rng, uint32_t resources) {
  const double unit = rng_unit(&rng);
  return static_cast<uint32_t>(unit * unit * unit * resources);
}

RequestPointer receive(Rng& rng, const Load& load, uint64_t sequence) {
  auto request = std::make_unique<server::Request>();
  request->sequence = sequence;
  request->session = rng_below(&rng, load.sessions);
  request->resource = draw_resource(rng, load.resources);
  request->text = "host: www.example.org\naccept: text/html, application/xml\nsession: " +
                  std::to_string(request->session) + "\n";
  return request;
}

// The front end: a session always has the same worker, so its requests are served in order.
void dispatch(const Load& load, uint64_t seed,
              const std::vector<std::unique_ptr<server::Worker>>& workers) {
  Rng rng{seed};
  for (uint64_t sequence = 0; sequence < load.requests; ++sequence) {
    RequestPointer request = receive(rng, load, sequence);
    server::Worker& worker = *workers[request->session % workers.size()];
    worker.requests().push(std::move(request));
  }
  for (const auto& worker : workers) {
    worker->requests().close();
  }
}

struct Totals {
  uint64_t responses = 0;
  uint64_t words = 0;
  uint64_t checksum = 0;
};

// The back end: a sum, as responses arrive in any order.
void collect(server::Queue<ResponsePointer>& responses, Totals& totals) {
  for (auto batch = responses.take_all(); !batch.empty(); batch = responses.take_all()) {
    for (const ResponsePointer& response : batch) {
      uint64_t checksum = checksum_add(response->sequence, response->digest);
      for (const uint64_t word : response->body) {
        checksum = checksum_add(checksum, word);
      }
      ++totals.responses;
      totals.words += response->body.size();
      totals.checksum += mix64(checksum);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Argument arguments[] = {{"requests", 0, 1000000000, 0},
                          {"sessions", 1, 100000000, 0},
                          {"resources", 1, 100000000, 0},
                          {"worker threads", 1, 64, 0},
                          {"seed", 0, 1 << 30, 0}};
  read_arguments(argc, argv, arguments, 5);
  const Load load{static_cast<uint64_t>(arguments[0].value),
                  static_cast<uint32_t>(arguments[1].value),
                  static_cast<uint32_t>(arguments[2].value)};
  const auto worker_count = static_cast<size_t>(arguments[3].value);

  server::Queue<ResponsePointer> responses;
  const size_t cached_documents = load.resources / 4 / worker_count + 1;
  std::vector<std::unique_ptr<server::Worker>> workers;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < worker_count; ++i) {
    workers.push_back(std::make_unique<server::Worker>(responses, cached_documents));
    threads.emplace_back(&server::Worker::run, workers.back().get());
  }
  Totals totals;
  std::thread back_end(collect, std::ref(responses), std::ref(totals));

  dispatch(load, static_cast<uint64_t>(arguments[4].value), workers);
  for (std::thread& thread : threads) {
    thread.join();
  }
  responses.close();
  back_end.join();
  std::printf("server: %" PRIu64 " responses, %" PRIu64 " words\nchecksum %016" PRIx64 "\n",
              totals.responses, totals.words, totals.checksum);
  return 0;
}
