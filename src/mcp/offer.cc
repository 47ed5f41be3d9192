#include "mcp/offer.h"

#include "mcp/resources.h"

namespace coop::mcp {

namespace {

// A client that is told of a schema expects structuredContent.
Json tool_json(const tools::ToolInfo& tool, Form form) {
  Json json{{"name", tool.name},
            {"description", tool.description},
            {"inputSchema", Json::parse(tool.schema)}};
  if (form == Form::both) json["outputSchema"] = tools::output_schema(tool);
  json["annotations"] = {{"readOnlyHint", tool.effect == tools::Effect::reads_only},
                         {"destructiveHint", tool.effect == tools::Effect::changes},
                         {"openWorldHint", tool.reach == tools::Reach::network}};
  return json;
}

class ToolboxOffer : public Offer {
 public:
  explicit ToolboxOffer(std::shared_ptr<tools::Toolbox> toolbox) : toolbox_(std::move(toolbox)) {}

  std::string instructions() const override { return toolbox_->instructions(); }
  Json tools(Form form) const override {
    Json list = Json::array();
    for (const tools::ToolInfo* tool : toolbox_->tools()) list.push_back(tool_json(*tool, form));
    return list;
  }
  // Of any trust: what this one may not call is refused in the result, with the reason.
  bool has_tool(std::string_view name) const override { return tools::find_tool(name) != nullptr; }
  Json call(const Call& call) override {
    return call_result(toolbox_->call(call.name, call.arguments, call.hooks), call.form,
                       call.length, toolbox_->workspace());
  }
  Json resources() override { return list_resources(*toolbox_); }
  Json templates() override { return resource_templates(*toolbox_); }
  Result<Json> read(const std::string& uri) override { return read_resource(*toolbox_, uri); }

 private:
  std::shared_ptr<tools::Toolbox> toolbox_;
};

}  // namespace

LookForOffer offer_of(tools::LiveTools& tools) {
  return [&tools] {
    tools::LiveTools::Now now = tools.look();
    return CurrentOffer{.offer = std::make_shared<ToolboxOffer>(std::move(now.toolbox)),
                        .revision = now.revision,
                        .news = std::move(now.news),
                        .broken = now.broken};
  };
}

}  // namespace coop::mcp
