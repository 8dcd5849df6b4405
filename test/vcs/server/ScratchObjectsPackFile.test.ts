/** Packs that git itself checks and reads. */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import { makePack } from "../../../src/vcs/server/ScratchObjects.ts"

const idOf = (content: Uint8Array): string =>
  createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex")

it("git verifies a pack and reads every file of it, whatever its length and bytes", () => {
  const folder = mkdtempSync(join(tmpdir(), "aicr-pack-"))
  try {
    const git = (...args: ReadonlyArray<string>) => execFileSync("git", args, { cwd: folder, maxBuffer: 1e9 })
    git("init", "--quiet", "--bare", ".")
    const sizes = [0, 1, 15, 16, 2047, 2048, 5552, 5553, 65_534, 65_535, 65_536, 131_070, 300_000]
    const contents = sizes.map((size) => Buffer.alloc(size, 255)).concat(Buffer.from("int main() {}\n"))
    const blobs = new Map(contents.map((content) => [idOf(content), content]))
    const { index, name, pack } = makePack(blobs)
    mkdirSync(join(folder, "objects", "pack"), { recursive: true })
    writeFileSync(join(folder, "objects", "pack", `${name}.pack`), pack)
    writeFileSync(join(folder, "objects", "pack", `${name}.idx`), index)
    git("verify-pack", join("objects", "pack", `${name}.idx`))
    for (const [id, content] of blobs) expect(git("cat-file", "blob", id).equals(content)).toBe(true)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
