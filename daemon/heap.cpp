#include "daemon/heap.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace linkhealth {

namespace {

/// Of one program or library: what is never written and so is the file's own.
int give_back_file(dl_phdr_info* file, std::size_t /*size*/, void* /*data*/) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  for (const ElfW(Phdr) & part : std::span(file->dlpi_phdr, file->dlpi_phnum)) {
    if (part.p_type != PT_LOAD || (part.p_flags & PF_W) != 0) continue;
    const std::uintptr_t begin = (file->dlpi_addr + part.p_vaddr) / page * page;
    const std::uintptr_t end = file->dlpi_addr + part.p_vaddr + part.p_memsz;
    madvise(reinterpret_cast<void*>(begin), end - begin,
            MADV_DONTNEED);  // NOLINT(*-reinterpret-cast,*int-to-ptr)
  }
  return 0;
}

}  // namespace

void keep_memory_small() {
  constexpr int kKeptFree_bytes = 512 * 1024;
  constexpr int kOwnMapping_bytes = 4 * 1024 * 1024;
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_TRIM_THRESHOLD, kKeptFree_bytes);
  mallopt(M_MMAP_THRESHOLD, kOwnMapping_bytes);
}

void give_back_rare_code() {
  dl_iterate_phdr(give_back_file, nullptr);
  malloc_trim(0);
}

}  // namespace linkhealth
