#include "daemon/http/body_budget.h"

#include <utility>

namespace linkhealth {

BodyBudget::Body BodyBudget::accept(std::string body) {
  if (body.size() <= kAlwaysAccepted_bytes)
    return std::make_shared<const std::string>(std::move(body));
  std::erase_if(under_way_, [](const auto& each) { return each.expired(); });
  std::size_t total_bytes = 0;
  for (const auto& each : under_way_) {
    Body other = each.lock();
    if (*other == body) return other;
    total_bytes += other->size();
  }
  if (total_bytes > 0 && total_bytes + body.size() > limit_bytes_) return nullptr;
  body.shrink_to_fit();  // gzip() reserves room for incompressible data
  Body accepted = std::make_shared<const std::string>(std::move(body));
  under_way_.emplace_back(accepted);
  return accepted;
}

}  // namespace linkhealth
