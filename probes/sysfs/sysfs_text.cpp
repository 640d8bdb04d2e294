#include "probes/sysfs/sysfs_text.h"

#include <cerrno>
#include <charconv>

#include "base/text.h"

namespace linkhealth {

namespace {
// As strerrorname_np(), which glibc 2.31 does not have.
const char* name_of(int errnum) {
  // clang-format off
#define NAME(number) case number: return #number;
  switch (errnum) {
    NAME(EPERM) NAME(ENOENT) NAME(ESRCH) NAME(EINTR) NAME(EIO) NAME(ENXIO) NAME(E2BIG)
    NAME(ENOEXEC) NAME(EBADF) NAME(ECHILD) NAME(EAGAIN) NAME(ENOMEM) NAME(EACCES) NAME(EFAULT)
    NAME(ENOTBLK) NAME(EBUSY) NAME(EEXIST) NAME(EXDEV) NAME(ENODEV) NAME(ENOTDIR) NAME(EISDIR)
    NAME(EINVAL) NAME(ENFILE) NAME(EMFILE) NAME(ENOTTY) NAME(ETXTBSY) NAME(EFBIG) NAME(ENOSPC)
    NAME(ESPIPE) NAME(EROFS) NAME(EMLINK) NAME(EPIPE) NAME(EDOM) NAME(ERANGE) NAME(EDEADLK)
    NAME(ENAMETOOLONG) NAME(ENOLCK) NAME(ENOSYS) NAME(ENOTEMPTY) NAME(ELOOP) NAME(ENOMSG)
    NAME(EIDRM) NAME(ECHRNG) NAME(EL2NSYNC) NAME(EL3HLT) NAME(EL3RST) NAME(ELNRNG) NAME(EUNATCH)
    NAME(ENOCSI) NAME(EL2HLT) NAME(EBADE) NAME(EBADR) NAME(EXFULL) NAME(ENOANO) NAME(EBADRQC)
    NAME(EBADSLT) NAME(EBFONT) NAME(ENOSTR) NAME(ENODATA) NAME(ETIME) NAME(ENOSR) NAME(ENONET)
    NAME(ENOPKG) NAME(EREMOTE) NAME(ENOLINK) NAME(EADV) NAME(ESRMNT) NAME(ECOMM) NAME(EPROTO)
    NAME(EMULTIHOP) NAME(EDOTDOT) NAME(EBADMSG) NAME(EOVERFLOW) NAME(ENOTUNIQ) NAME(EBADFD)
    NAME(EREMCHG) NAME(ELIBACC) NAME(ELIBBAD) NAME(ELIBSCN) NAME(ELIBMAX) NAME(ELIBEXEC)
    NAME(EILSEQ) NAME(ERESTART) NAME(ESTRPIPE) NAME(EUSERS) NAME(ENOTSOCK) NAME(EDESTADDRREQ)
    NAME(EMSGSIZE) NAME(EPROTOTYPE) NAME(ENOPROTOOPT) NAME(EPROTONOSUPPORT)
    NAME(ESOCKTNOSUPPORT) NAME(EOPNOTSUPP) NAME(EPFNOSUPPORT) NAME(EAFNOSUPPORT)
    NAME(EADDRINUSE) NAME(EADDRNOTAVAIL) NAME(ENETDOWN) NAME(ENETUNREACH) NAME(ENETRESET)
    NAME(ECONNABORTED) NAME(ECONNRESET) NAME(ENOBUFS) NAME(EISCONN) NAME(ENOTCONN)
    NAME(ESHUTDOWN) NAME(ETOOMANYREFS) NAME(ETIMEDOUT) NAME(ECONNREFUSED) NAME(EHOSTDOWN)
    NAME(EHOSTUNREACH) NAME(EALREADY) NAME(EINPROGRESS) NAME(ESTALE) NAME(EUCLEAN) NAME(ENOTNAM)
    NAME(ENAVAIL) NAME(EISNAM) NAME(EREMOTEIO) NAME(EDQUOT) NAME(ENOMEDIUM) NAME(EMEDIUMTYPE)
    NAME(ECANCELED) NAME(ENOKEY) NAME(EKEYEXPIRED) NAME(EKEYREVOKED) NAME(EKEYREJECTED)
    NAME(EOWNERDEAD) NAME(ENOTRECOVERABLE) NAME(ERFKILL) NAME(EHWPOISON)
    default: return nullptr;
  }
#undef NAME
  // clang-format on
}
}  // namespace

std::string read_attribute(Host& host, const std::string& path) {
  const auto content = host.read_file(path);
  return content ? std::string(trim(*content)) : std::string();
}

std::optional<std::int64_t> parse_i64(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

Error unexpected_text(std::string_view text) {
  if (text.empty()) return Error{"empty", 0};
  constexpr std::size_t kShown = 24;
  return Error{
      "text \"" + printable(text.substr(0, kShown)) + (text.size() > kShown ? "…\"" : "\""), 0};
}

std::string errno_name(int errnum) {
  if (errnum == 0) return "not readable";
  const char* name = name_of(errnum);
  return name != nullptr ? name : "errno " + std::to_string(errnum);
}

}  // namespace linkhealth
