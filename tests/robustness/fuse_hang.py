"""A file system whose files can be listed and opened, and whose reads never come back: what a device does whose
firmware hangs. Speaks to /dev/fuse itself (linux/fuse.h), so it needs no library; needs root.
"""
import ctypes
import errno
import os
import stat
import struct
import threading

LOOKUP, FORGET, GETATTR, OPEN, READ, RELEASE, INIT, OPENDIR, READDIR, RELEASEDIR = 1, 2, 3, 14, 15, 18, 26, 27, 28, 29
BATCH_FORGET, INTERRUPT = 42, 36
NO_REPLY = {FORGET, BATCH_FORGET, INTERRUPT}
libc = ctypes.CDLL(None, use_errno=True)


class Unusable(Exception):
    """There is no FUSE here, or no right to mount."""


class HangingDirectory:
    """Mounts over `directory`: files called `names`, each of which hangs when it is read."""

    def __init__(self, directory, names):
        self.directory, self.names, self.reads, self.fd = directory, list(names), 0, -1
        try:
            self.fd = os.open("/dev/fuse", os.O_RDWR)
        except OSError as error:
            raise Unusable(f"/dev/fuse: {error.strerror}") from error
        options = f"fd={self.fd},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}"
        if libc.mount(b"fuse", directory.encode(), b"fuse", 0, options.encode()) != 0:
            raise Unusable(f"mount: {os.strerror(ctypes.get_errno())}")
        threading.Thread(target=self.serve, daemon=True).start()

    def close(self):
        if self.fd < 0:
            return
        libc.umount2(self.directory.encode(), 3)  # MNT_FORCE | MNT_DETACH: aborts the connection, so that hung reads end
        os.close(self.fd)
        self.fd = -1

    def serve(self):
        while True:
            try:
                request = os.read(self.fd, 1 << 20)
            except OSError as error:
                if error.errno in (errno.ENOENT, errno.EINTR, errno.EAGAIN):
                    continue
                return
            _, opcode, unique, node = struct.unpack_from("<IIQQ", request)
            if opcode == READ:
                self.reads += 1
                continue  # for ever
            if opcode in NO_REPLY:
                continue
            code, body = self.answer(opcode, node, request[40:])
            try:
                os.write(self.fd, struct.pack("<IiQ", 16 + len(body), -code, unique) + body)
            except OSError:
                return

    def attributes(self, node):
        directory = node == 1
        mode = (stat.S_IFDIR | 0o555) if directory else (stat.S_IFREG | 0o444)
        return struct.pack("<QQQQQQIIIIIIIIII", node, 4096, 8, 0, 0, 0, 0, 0, 0, mode, 2 if directory else 1, 0, 0, 0,
                           4096, 0)

    def answer(self, opcode, node, body):
        if opcode == INIT:
            major, minor = struct.unpack_from("<II", body)
            return 0, struct.pack("<IIIIHHIIHHI28x", 7, min(minor, 31), 65536, 0, 12, 9, 4096, 1, 1, 0, 0)
        if opcode == LOOKUP:
            name = body.split(b"\0")[0].decode()
            if name not in self.names:
                return errno.ENOENT, b""
            child = 2 + self.names.index(name)
            return 0, struct.pack("<QQQQII", child, 0, 3600, 3600, 0, 0) + self.attributes(child)
        if opcode == GETATTR:
            return 0, struct.pack("<QII", 3600, 0, 0) + self.attributes(node)
        if opcode in (OPEN, OPENDIR):
            return 0, struct.pack("<QII", 0, 1, 0)  # FOPEN_DIRECT_IO
        if opcode == READDIR:
            offset = struct.unpack_from("<QQ", body)[1]
            out = b""
            for index, name in list(enumerate(self.names))[offset:]:
                entry = struct.pack("<QQII", 2 + index, index + 1, len(name), stat.S_IFREG >> 12) + name.encode()
                out += entry + b"\0" * (-len(entry) % 8)
            return 0, out[:4096]
        if opcode in (RELEASE, RELEASEDIR):
            return 0, b""
        return errno.ENOSYS, b""
