#include "daemon/http_streams.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <future>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/quiet_thread.h"

namespace linkhealth {

namespace {

/// All bytes on a blocking socket.
bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool is_connected(int fd) {
  char byte = 0;
  const auto got = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

void make_blocking(int socket, Milliseconds patience) {
  const timeval most{std::chrono::duration_cast<std::chrono::seconds>(patience).count(), 0};
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most));
  fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) & ~O_NONBLOCK);
}

void run_stream(int socket, const HttpStream& stream, const std::atomic<bool>& stopping) {
  ApiReply reply;
  reply.content_type = stream.content_type;
  bool good = send_all(socket, http_head(reply, std::nullopt, false));
  std::string bytes;
  while (good && !stopping) {
    const HttpStream::State state = stream.next(bytes);
    if (state == HttpStream::State::kBytes) good = send_all(socket, http_chunk(bytes));
    if (state == HttpStream::State::kNothingYet) good = is_connected(socket);
    if (state == HttpStream::State::kEnded) send_all(socket, "0\r\n\r\n");
    if (state == HttpStream::State::kEnded || state == HttpStream::State::kBroken) break;
  }
}

}  // namespace

bool HttpStreams::begin(OwnedFd& socket, std::unique_ptr<HttpStream> stream,
                        Milliseconds patience) {
  streams_.remove_if([](Streaming& streaming) {
    if (*streaming.done) streaming.thread.join();
    return !streaming.thread.joinable();
  });
  auto done = std::make_shared<std::atomic<bool>>(false);
  auto handed = std::make_shared<std::promise<OwnedFd>>();
  auto run = [this, done, handed, shared = std::shared_ptr<HttpStream>(std::move(stream)),
              patience] {
    {
      const OwnedFd owned = handed->get_future().get();
      make_blocking(owned.get(), patience);
      run_stream(owned.get(), *shared, stopping_);
    }
    *done = true;
  };
  try {
    streams_.push_back({quiet_thread(std::move(run)), done});
  } catch (const std::system_error&) {  // the limit of tasks
    return false;
  }
  handed->set_value(std::move(socket));
  return true;
}

void HttpStreams::stop() {
  stopping_ = true;
  for (Streaming& stream : streams_)
    if (stream.thread.joinable()) stream.thread.join();
}

}  // namespace linkhealth
