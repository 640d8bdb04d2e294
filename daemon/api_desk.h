// What schedulers and technicians ask: the check and the ticket.
#pragma once

#include <optional>

#include "daemon/api.h"
#include "exporters/text_style.h"

namespace linkhealth {

/// /api/v1/check[/PORT], /api/v1/text/check[/PORT]?drain=&perfdata= (X-Linkhealth-Check: the exit
/// code), /api/v1/cabling and /api/v1/text/cabling (X-Linkhealth-Problems: ports against the plan),
/// /api/v1/ticket/PORT, /api/v1/text/ticket/PORT. nullopt: none of these.
std::optional<ApiReply> desk_answer(const ApiRequest& request, const ApiView& view,
                                    const Report& report);

}  // namespace linkhealth
