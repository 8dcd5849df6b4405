/** Size of a revision: during its fetch by the received bytes, afterwards by its files. */
import { readdir, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { CheckoutError } from "../Checkout.ts"
import { startGit } from "./GitProcess.ts"
import { inMirror, io } from "./Mirror.ts"
import type { Mirror } from "./Mirror.ts"
import { localTime, withinTime } from "./TimeLimit.ts"

const lookEvery = 250

export const tooLarge = (bytes: number, limit: number) => {
  const mib = (size: number) => Math.ceil(size / 1_048_576)
  return new CheckoutError({
    reason: "failed",
    why: { _tag: "OverMaxMb", size: mib(bytes), limit: mib(limit) }
  })
}

/** Completes with the received bytes when they exceed the limit; packed data is smaller than the files. */
export const tooMuchOnDisk = Effect.fnUntraced(function* (
  mirror: Mirror,
  limit: number
): Effect.fn.Return<number, CheckoutError> {
  while (true) {
    yield* Effect.sleep(lookEvery)
    const bytes = yield* io("mirror", () => partialBytes(mirror))
    if (bytes > limit) return bytes
  }
})

const packFolder = (mirror: Mirror): string => join(mirror.directory, "objects", "pack")
const partialFiles = async (mirror: Mirror): Promise<ReadonlyArray<string>> =>
  (await readdir(packFolder(mirror))).filter((name) => name.startsWith("tmp_"))

const partialBytes = async (mirror: Mirror): Promise<number> => {
  let bytes = 0
  for (const name of await partialFiles(mirror)) {
    // Git renames a complete pack.
    bytes += await stat(join(packFolder(mirror), name)).then(
      ({ size }) => size,
      () => 0
    )
  }
  return bytes
}

export const removePartial = async (mirror: Mirror): Promise<void> => {
  for (const name of await partialFiles(mirror)) await rm(join(packFolder(mirror), name), { force: true })
}

/** Returns the bytes of all files of a revision, as in a work tree. */
export const treeBytes = Effect.fnUntraced(function* (mirror: Mirror, commit: string) {
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const command = inMirror(mirror, ["ls-tree", "-r", "-l", "-z", "--full-tree", commit])
      const child = yield* startGit(command)
      child.stdin.end()
      let bytes = 0
      let rest = ""
      child.stdout.setEncoding("latin1")
      child.stdout.on("data", (text: string) => {
        const lines = (rest + text).split("\0")
        rest = lines.pop() ?? ""
        // Columns: mode, type, id, size; a submodule has a hyphen as size.
        for (const line of lines) bytes += Number.parseInt(line.split(/ +/, 4)[3] ?? "", 10) || 0
      })
      const { code } = yield* Effect.promise(() => child.ended).pipe(withinTime("ls-tree", localTime("tree")))
      if (code === 0) return bytes
      return yield* new CheckoutError({ reason: "failed", why: { _tag: "SizeUnknown", commit } })
    })
  )
})
