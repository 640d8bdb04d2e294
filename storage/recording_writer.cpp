#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "model/sample_json.h"
#include "storage/recording.h"

namespace linkhealth {

namespace {

class FileSink : public ByteSink {
 public:
  FileSink(int fd, bool owned, std::string path) : fd_(fd), owned_(owned), path_(std::move(path)) {}
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;
  ~FileSink() override {
    if (owned_) close(fd_);
  }
  Result<void> write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t put = ::write(fd_, bytes.data(), bytes.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return errno_error(path_, errno);
      bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return {};
  }

 private:
  int fd_;
  bool owned_;
  std::string path_;
};

/// Keeps a recording that is there already: FILE becomes FILE.1.
Result<void> keep_old(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) return {};
  if (std::rename(path.c_str(), (path + ".1").c_str()) != 0) return errno_error(path, errno);
  return {};
}

Result<std::unique_ptr<ByteSink>> open_sink(const std::string& path) {
  if (path == "-")
    return std::unique_ptr<ByteSink>(
        std::make_unique<FileSink>(STDOUT_FILENO, false, "standard output"));
  if (auto kept = keep_old(path); !kept) return kept.error();
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return errno_error(path, errno);
  return std::unique_ptr<ByteSink>(std::make_unique<FileSink>(fd, true, path));
}

}  // namespace

/// A gzip stream that is flushed after every line, so that what is on disk can always be unpacked
/// up to there.
struct RecordingWriter::Packer {
  z_stream stream{};
  bool usable = false;

  Packer() {
    constexpr int kGzip = 16 + MAX_WBITS;
    constexpr int kMemoryLevel = 8;
    usable = deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemoryLevel,
                          Z_DEFAULT_STRATEGY) == Z_OK;
  }
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;
  ~Packer() { deflateEnd(&stream); }

  std::string pack(std::string& bytes, int flush) {
    std::string out;
    std::array<char, 16384> chunk{};
    stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
    stream.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
      stream.avail_out = static_cast<uInt>(chunk.size());
      deflate(&stream, flush);
      out.append(chunk.data(), chunk.size() - stream.avail_out);
    } while (stream.avail_out == 0);
    return out;
  }
};

RecordingWriter::RecordingWriter(std::unique_ptr<ByteSink> sink, std::unique_ptr<Packer> packer)
    : sink_(std::move(sink)), packer_(std::move(packer)) {}
RecordingWriter::RecordingWriter(RecordingWriter&&) noexcept = default;
RecordingWriter& RecordingWriter::operator=(RecordingWriter&&) noexcept = default;
RecordingWriter::~RecordingWriter() {
  if (const auto closed = close(); !closed) return;  // who wants to know calls close()
}

Result<RecordingWriter> RecordingWriter::create(const std::string& path,
                                                const RecordingHeader& header) {
  auto sink = open_sink(path);
  if (!sink) return sink.error();
  return create(std::move(sink).value(), path.ends_with(".gz"), header);
}

Result<RecordingWriter> RecordingWriter::create(std::unique_ptr<ByteSink> sink, bool gzip,
                                                const RecordingHeader& header) {
  auto packer = gzip ? std::make_unique<Packer>() : nullptr;
  if (packer && !packer->usable) return Error{"cannot pack: out of memory"};
  RecordingWriter writer(std::move(sink), std::move(packer));
  if (auto written = writer.write_line(recording_header_json(header)); !written)
    return written.error();
  return writer;
}

Result<void> RecordingWriter::write_line(std::string line) {
  if (failed_) return *failed_;
  if (!sink_) return Error{"the recording is closed"};
  line.push_back('\n');
  auto written = sink_->write(packer_ ? packer_->pack(line, Z_SYNC_FLUSH) : line);
  if (!written) failed_ = written.error();
  return written;
}

Result<void> RecordingWriter::write(const Snapshot& snapshot) {
  return write_line(snapshot_json(snapshot));
}

Result<void> RecordingWriter::close() {
  if (!sink_) return {};
  const std::unique_ptr<ByteSink> sink = std::move(sink_);
  if (failed_) return *failed_;
  std::string nothing;
  return packer_ ? sink->write(packer_->pack(nothing, Z_FINISH)) : Result<void>();
}

}  // namespace linkhealth
