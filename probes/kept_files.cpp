#include "probes/kept_files.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "probes/sysfs_text.h"

namespace linkhealth {

std::optional<Result<HostFile*>> KeptFile::begin(Host& host, const std::string& dir) {
  if (trouble_ && trouble_->skip > 0) {
    --trouble_->skip;
    return std::nullopt;
  }
  if (!file_) {
    auto opened = host.open_file(dir + "/" + std::string(name_));
    if (!opened) return opened.error();
    file_ = std::move(*opened);
  }
  return file_.get();
}

std::optional<Result<std::string_view>> KeptFile::read(Host& host, const std::string& dir,
                                                       std::span<char> buffer) {
  const auto file = begin(host, dir);
  if (!file) return std::nullopt;
  if (!*file) return file->error();
  const auto size = (**file)->read(buffer);
  if (!size) return size.error();
  return trim(std::string_view(buffer.data(), *size));
}

void KeptFile::reject(std::string reason, unsigned max_skip) {
  if (!trouble_) trouble_ = std::make_unique<Trouble>();
  trouble_->reason = std::move(reason);
  trouble_->skip =
      trouble_->failures >= 16 ? max_skip : std::min(max_skip, 1U << trouble_->failures);
  ++trouble_->failures;
}

std::string KeptFiles::reasons() {
  std::string text;
  if (any_failed_) text = join_reasons(files_);
  any_failed_ = !text.empty();
  return text;
}

CounterFiles::CounterFiles(std::string dir, std::string_view prefix,
                           std::span<const std::string> names)
    : dir_(std::move(dir)), prefix_size_(prefix.size()) {
  files_.reserve(names.size());
  counter_ids_.reserve(names.size());
  for (const std::string& name : names) {
    std::string counter = std::string(prefix) + name;
    const auto id = find_counter(counter);
    counter_ids_.push_back(id.value_or(kOdd));
    if (!id) odd_names_.push_back(std::make_unique<const std::string>(std::move(counter)));
    files_.emplace_back(
        (id ? known_counters()[*id].name : *odd_names_.back()).substr(prefix_size_));
  }
  descriptors_.assign(files_.size(), -1);
  looked_at_ = files_.size();
}

void CounterFiles::read_descriptors(std::size_t first, std::size_t count, Host& host, Reads& reads,
                                    std::span<DescriptorRead> beside) const {
  std::size_t asked = 0;
  for (std::size_t i = first; i < first + count; ++i) {
    if (descriptors_[i] < 0) continue;
    reads.reads[asked] = {descriptors_[i], reads.texts[asked], 0};
    ++asked;
  }
  const auto theirs = std::span(reads.reads).subspan(asked, beside.size());
  std::copy(beside.begin(), beside.end(), theirs.begin());
  if (asked + beside.size() > 0)
    host.read_descriptors(std::span(reads.reads).first(asked + beside.size()));
  std::copy(theirs.begin(), theirs.end(), beside.begin());
}

std::optional<Result<std::uint64_t>> CounterFiles::number(std::size_t index, Host& host,
                                                          const DescriptorRead* read) {
  if (read == nullptr) {
    std::array<char, kLongest> buffer;  // NOLINT(*-member-init): filled by the read
    const auto text = files_[index].read(host, dir_, buffer);
    if (!text) return std::nullopt;
    if (!*text) return text->error();
    return parse_counter(**text);
  }
  if (read->got < 0) return errno_error("read", static_cast<int>(-read->got));
  return parse_counter(trim(text_of(*read)));
}

void CounterFiles::accept(std::size_t index) {
  files_[index].accept();
  descriptors_[index] = files_[index].descriptor();
  if (descriptors_[index] >= 0) --looked_at_;
}

void CounterFiles::reject(std::size_t index, const Error& error, unsigned max_skip) {
  files_[index].reject(error.errnum == 0 ? error.message : errno_name(error.errnum), max_skip);
  if (std::exchange(descriptors_[index], -1) >= 0) ++looked_at_;
}

std::string CounterFiles::reasons() const {
  return looked_at_ == 0 ? std::string() : join_reasons(files_);
}

bool CounterFiles::has(std::string_view counter_name) const {
  for (std::size_t i = 0; i < files_.size(); ++i)
    if (this->counter_name(i) == counter_name) return true;
  return false;
}

bool CounterFiles::has_any(std::string_view beginning) const {
  for (std::size_t i = 0; i < files_.size(); ++i)
    if (counter_name(i).starts_with(beginning)) return true;
  return false;
}

Result<std::uint64_t> parse_counter(std::string_view text) {
  if (const auto value = parse_u64(text)) return *value;
  return unexpected_text(text);
}

Error unexpected_text(std::string_view text) {
  if (text.empty()) return Error{"empty", 0};
  constexpr std::size_t kShown = 24;
  return Error{
      "text \"" + printable(text.substr(0, kShown)) + (text.size() > kShown ? "…\"" : "\""), 0};
}

std::string join_reasons(std::span<const KeptFile> files) {
  constexpr std::size_t kNames = 4;
  std::string joined;
  for (auto first = files.begin(); first != files.end(); ++first) {
    const std::string_view reason = first->reason();
    const auto same = [&](const KeptFile& file) { return file.reason() == reason; };
    if (reason.empty() || std::any_of(files.begin(), first, same)) continue;
    if (!joined.empty()) joined += "; ";
    std::size_t names = 0;
    for (auto file = first; file != files.end(); ++file)
      if (same(*file) && ++names <= kNames)
        joined.append(names > 1 ? ", " : "").append(file->name());
    if (names > kNames) joined += " and " + std::to_string(names - kNames) + " more";
    joined.append(": ").append(reason);
  }
  return joined;
}

}  // namespace linkhealth
