// The part of the API that asks the memory: what is remembered of a port, and where a module was.
//
//   /api/v1/ports/PORT/history?since=SECONDS[&step=10|60|600][&signals=NAME,…]
//   docs/schema/history.json /api/v1/text/history/PORT?since=&width=&colour=&ascii=
//   /api/v1/identities/SERIAL
#pragma once

#include <optional>

#include "daemon/api.h"
#include "exporters/text_style.h"

namespace linkhealth {

/// nullopt: the path is none of these.
std::optional<ApiReply> answer_from_memory(const ApiRequest& request, const ApiView& view,
                                           const Report& report, const TextStyle& style);

}  // namespace linkhealth
