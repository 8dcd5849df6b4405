/** A small disk of its own (tmpfs), which a test fills and empties. Needs root and permission to mount. */
import { execFileSync } from "node:child_process"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const mebibyte = 1024 * 1024

const canMount = (): boolean => {
  try {
    execFileSync("unshare", ["--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

export class SmallDisk implements Disposable {
  static readonly isPossible = process.getuid?.() === 0 && canMount()
  readonly folder: string
  readonly #mebibytes: number
  readonly #rest: string

  /** `files` limits the number of files, the folder included. */
  constructor(folder: string, mebibytes: number, files?: number) {
    this.folder = folder
    this.#mebibytes = mebibytes
    mkdirSync(folder, { recursive: true })
    const limit = files === undefined ? "" : `,nr_inodes=${files}`
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${mebibytes}m${limit}`, "tmpfs", folder])
    this.#rest = join(folder, "rest")
  }

  /** Uses all room that is left. */
  fill(): void {
    try {
      writeFileSync(this.#rest, Buffer.alloc((this.#mebibytes + 1) * mebibyte))
    } catch {
      // Written as far as there was room.
    }
  }

  free(): void {
    rmSync(this.#rest)
  }

  [Symbol.dispose](): void {
    execFileSync("umount", ["--lazy", this.folder])
  }
}
