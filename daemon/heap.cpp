#include "daemon/heap.h"

#include <malloc.h>

namespace linkhealth {

void keep_memory_small() {
  constexpr int kKeptFree_bytes = 512 * 1024;
  constexpr int kOwnMapping_bytes = 4 * 1024 * 1024;
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_TRIM_THRESHOLD, kKeptFree_bytes);
  mallopt(M_MMAP_THRESHOLD, kOwnMapping_bytes);
}

}  // namespace linkhealth
