// What a server offers its clients. The product's is a toolbox; the conformance suite's has the fixtures it asks for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "mcp/presented.h"
#include "tools/live_tools.h"

namespace coop::mcp {

// One tools/call.
struct Call {
  std::string name{};
  Json arguments = Json::object();
  tools::CallHooks hooks{};
  std::function<void(std::string_view method, Json params)> notify{};
  Form form = Form::both;
  Length length = Length::shown;
};

class Offer {
 public:
  Offer() = default;
  Offer(const Offer&) = delete;
  Offer& operator=(const Offer&) = delete;
  virtual ~Offer() = default;

  virtual std::string instructions() const = 0;
  virtual Json tools(Form form) const = 0;  // as tools/list has them
  virtual bool has_tool(std::string_view name) const = 0;
  virtual Json call(const Call& call) = 0;  // the result of tools/call
  // The results of resources/list, resources/templates/list and resources/read.
  virtual Json resources() = 0;
  virtual Json templates() = 0;
  virtual Result<Json> read(const std::string& uri) = 0;
};

struct CurrentOffer {
  std::shared_ptr<Offer> offer{};  // a call keeps it to its end
  std::uint64_t revision = 0;      // the rest as in LiveTools::Now
  std::string news{};
  bool broken = false;
};
// Looks for changes. Many threads may call it at once.
using LookForOffer = std::function<CurrentOffer()>;

// The tools outlive what is returned.
LookForOffer offer_of(tools::LiveTools& tools);

}  // namespace coop::mcp
