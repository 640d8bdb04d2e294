#include "storage/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace linkhealth {

namespace {

constexpr std::size_t kChunkBytes = std::size_t{256} * 1024;

class FileSource : public ByteSource {
 public:
  FileSource(int fd, bool owned) : fd_(fd), owned_(owned) {}
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override {
    if (owned_) close(fd_);
  }
  Result<std::size_t> read(std::span<char> buffer) override {
    ssize_t got = 0;
    do {
      got = ::read(fd_, buffer.data(), buffer.size());
    } while (got < 0 && errno == EINTR);
    if (got < 0) return errno_error("cannot read", errno);
    return static_cast<std::size_t>(got);
  }

 private:
  int fd_;
  bool owned_;
};

class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::string bytes) : bytes_(std::move(bytes)) {}
  Result<std::size_t> read(std::span<char> buffer) override {
    const std::size_t count = std::min(buffer.size(), bytes_.size() - at_);
    std::memcpy(buffer.data(), bytes_.data() + at_, count);
    at_ += count;
    return count;
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

/// Looks at the first two bytes and then either inflates or passes on.
class UnpackedSource : public ByteSource {
 public:
  explicit UnpackedSource(std::unique_ptr<ByteSource> from)
      : from_(std::move(from)), input_(kChunkBytes) {}
  UnpackedSource(const UnpackedSource&) = delete;
  UnpackedSource& operator=(const UnpackedSource&) = delete;
  ~UnpackedSource() override {
    if (inflating_) inflateEnd(&stream_);
  }

  Result<std::size_t> read(std::span<char> buffer) override {
    if (!begun_) {
      if (auto begun = begin(); !begun) return begun.error();
    }
    return inflating_ ? inflate_some(buffer) : pass_on(buffer);
  }
  [[nodiscard]] std::string warning() const override { return warning_; }

 private:
  /// Reads more input behind what is left of it. False at the end.
  Result<bool> more() {
    std::copy(input_.begin() + static_cast<std::ptrdiff_t>(begin_),
              input_.begin() + static_cast<std::ptrdiff_t>(end_), input_.begin());
    end_ -= begin_;
    begin_ = 0;
    auto got = from_->read(std::span(input_).subspan(end_));
    if (!got) return got.error();
    end_ += *got;
    return *got > 0;
  }

  [[nodiscard]] bool gzip_begins() const {
    return end_ - begin_ >= 2 && input_[begin_] == '\x1f' && input_[begin_ + 1] == '\x8b';
  }

  Result<void> begin() {
    begun_ = true;
    while (end_ - begin_ < 2) {
      auto got = more();
      if (!got) return got.error();
      if (!*got) return {};
    }
    if (!gzip_begins()) return {};
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (inflateInit2(&stream_, kGzipOnly) != Z_OK) return Error{"cannot unpack: out of memory"};
    inflating_ = true;
    return {};
  }

  Result<std::size_t> pass_on(std::span<char> buffer) {
    if (begin_ == end_) return from_->read(buffer);
    const std::size_t count = std::min(buffer.size(), end_ - begin_);
    std::memcpy(buffer.data(), input_.data() + begin_, count);
    begin_ += count;
    return count;
  }

  Result<std::size_t> inflate_some(std::span<char> buffer) {
    while (!done_) {
      if (begin_ == end_) {
        auto got = more();
        if (!got) return got.error();
        if (!*got) return stop(member_ended_ ? "" : "the gzip stream breaks off");
      }
      if (member_ended_) {
        if (auto next = next_member(); !next) return next.error();
        if (done_) break;
      }
      const std::size_t count = inflate_once(buffer);
      if (count > 0 || done_) return count;
    }
    return std::size_t{0};
  }

  std::size_t inflate_once(std::span<char> buffer) {
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data() + begin_);
    stream_.avail_in = static_cast<uInt>(end_ - begin_);
    stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream_.avail_out = static_cast<uInt>(buffer.size());
    const int code = inflate(&stream_, Z_NO_FLUSH);
    begin_ = end_ - stream_.avail_in;
    if (code == Z_STREAM_END) member_ended_ = true;
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
      stop("the gzip stream is damaged");
    return buffer.size() - stream_.avail_out;
  }

  /// Behind a member there may be another one; whatever else follows is no part of it.
  Result<void> next_member() {
    while (end_ - begin_ < 2) {
      auto got = more();
      if (!got) return got.error();
      if (!*got) break;
    }
    if (gzip_begins() && inflateReset(&stream_) == Z_OK)
      member_ended_ = false;
    else
      stop("something that is not gzip follows the gzip stream");
    return {};
  }

  std::size_t stop(std::string warning) {
    done_ = true;
    warning_ = std::move(warning);
    return 0;
  }

  std::unique_ptr<ByteSource> from_;
  std::vector<char> input_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool begun_ = false;
  bool inflating_ = false;
  bool member_ended_ = false;
  bool done_ = false;
  std::string warning_;
  z_stream stream_{};
};

}  // namespace

Result<std::unique_ptr<ByteSource>> open_byte_source(const std::string& path) {
  if (path == "-")
    return std::unique_ptr<ByteSource>(std::make_unique<FileSource>(STDIN_FILENO, false));
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno_error(path, errno);
  return std::unique_ptr<ByteSource>(std::make_unique<FileSource>(fd, true));
}

std::unique_ptr<ByteSource> memory_source(std::string bytes) {
  return std::make_unique<MemorySource>(std::move(bytes));
}

std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> from) {
  return std::make_unique<UnpackedSource>(std::move(from));
}

LineReader::LineReader(std::unique_ptr<ByteSource> source, std::size_t max_line_bytes)
    : source_(std::move(source)), max_line_bytes_(max_line_bytes), buffer_(kChunkBytes) {}

Result<void> LineReader::refill() {
  const std::size_t held = end_ - begin_;
  if (begin_ > 0) std::memmove(buffer_.data(), buffer_.data() + begin_, held);
  begin_ = 0;
  end_ = held;
  if (held > max_line_bytes_)
    return Error{fmt::format("a line of more than {} bytes", max_line_bytes_)};
  if (held == buffer_.size()) buffer_.resize(buffer_.size() * 2);
  auto got = source_->read(std::span(buffer_).subspan(end_));
  if (!got) return got.error();
  end_ += *got;
  at_end_ = *got == 0;
  return {};
}

Result<std::optional<LineReader::Line>> LineReader::next() {
  ++line_number_;
  std::size_t searched = 0;
  for (;;) {
    const std::string_view held(buffer_.data() + begin_, end_ - begin_);
    const auto stop = held.find('\n', searched);
    if (stop != std::string_view::npos) {
      begin_ += stop + 1;
      return std::optional(Line{held.substr(0, stop), true});
    }
    if (at_end_) {
      begin_ = end_;
      if (held.empty()) return std::optional<Line>();
      return std::optional(Line{held, false});
    }
    searched = held.size();
    if (auto refilled = refill(); !refilled) return refilled.error();
  }
}

}  // namespace linkhealth
