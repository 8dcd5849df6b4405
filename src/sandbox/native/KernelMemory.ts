/** Memory that the kernel holds for a native sandbox and for none of its processes. Measured where no control group counts it. */
import { readFileSync, statfsSync } from "node:fs"

const read = (path: string): string => {
  try {
    return readFileSync(path, "latin1")
  } catch {
    // The sandbox has ended.
    return ""
  }
}

/** A name in a file system in memory, whatever its content: what the kernel itself reserves for it. */
const nameBytes = 1024

/** Returns the bytes of files, names and attributes in the file system of a folder. */
const bytesOfFiles = (folder: string): number => {
  try {
    const { bfree, blocks, bsize, ffree, files } = statfsSync(folder)
    return (blocks - bfree) * bsize + (files - ffree) * nameBytes
  } catch {
    return 0
  }
}

const queues = /^ *\d+: \S+ \S+ \S+ ([0-9A-F]+):([0-9A-F]+) /gm
/** Share of a buffer that is content, at least. */
const contentShare = 0.5

/** Returns the bytes in buffers of sockets. Those of unix sockets are not shown: each counts with the size to which the filter of calls keeps it. */
const bytesOfSockets = (pid: number): number => {
  let content = 0
  for (const name of ["tcp", "tcp6", "udp", "udp6"])
    for (const [, sent = "", received = ""] of read(`/proc/${pid}/net/${name}`).matchAll(queues))
      content += parseInt(sent, 16) + parseInt(received, 16)
  const unix = read(`/proc/${pid}/net/unix`).split("\n").length - 2
  return content / contentShare + Math.max(0, unix) * Number(read("/proc/sys/net/core/wmem_default"))
}

/** `pid` is a process of the sandbox, which has its own network, and `scratch` its folder for files. */
export const measureKernelMemory = (pid: number, scratch: string): number =>
  bytesOfFiles(`/proc/${pid}/root${scratch}`) + bytesOfSockets(pid)
