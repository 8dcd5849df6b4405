/** Files that git takes for binary: a bounded number of them is read, whatever their number, and the rest keeps its reason. */
import { Effect, Stream } from "effect"
import { describe, expect, it } from "vitest"
import { maxBinaries, readBinaries } from "../../../src/engine/read/ReadChange.ts"
import type { ChangeThread } from "../../../src/engine/ChangeThreads.ts"
import { makeChangeWork } from "../../../src/engine/work/ChangeWork.ts"
import { maxNamedSkipped } from "../../../src/domain/SkippedFiles.ts"
import { packPaths } from "../../../src/engine/work/ListedPart.ts"
import type { Checkout } from "../../../src/vcs/Checkout.ts"
import { noSearch } from "../../harness/NoSearch.ts"

const diffOf = (paths: ReadonlyArray<string>): Buffer =>
  Buffer.from(
    paths
      .map(
        (path) =>
          `diff --git a/${path} b/${path}\nnew file mode 100644\nindex ${"0".repeat(40)}..${"1".repeat(40)}\nBinary files /dev/null and b/${path} differ\n`
      )
      .join("")
  )

/** Reads the binary files of a change that adds these, of which each has `text`. */
const read = async (
  paths: ReadonlyArray<string>,
  text: (path: string) => string | undefined,
  limits: { readonly room: number; readonly places: number }
) => {
  const work = makeChangeWork()
  const calls: Array<string> = []
  const files: Array<string> = []
  const change: ChangeThread = {
    run: (name, ...input) =>
      Effect.sync(() => {
        calls.push(name)
        return (work[name] as (...given: ReadonlyArray<unknown>) => never)(...input)
      })
  }
  const checkout: Checkout = {
    directory: Effect.die("not used"),
    head: "h",
    from: "b",
    changes: () => Effect.die("not used"),
    sizes: () => Effect.die("not used"),
    diff: () => Stream.die("not used"),
    file: (path, _, maxBytes) =>
      Effect.sync(() => {
        files.push(path)
        const found = text(path)
        return found !== undefined && found.length <= maxBytes ? found : undefined
      }),
    list: () => Effect.succeed([]),
    blame: () => Effect.succeed([]),
    search: noSearch
  }
  const review = { include: [], exclude: [], max_files: 100_000, max_file_bytes: 1_000_000 }
  const rules = { ...review, include: ["**"], ignore_file: ".aicrignore", ignore_file_scope: "all" as const }
  const filters = { watchPath: [], include: [], exclude: [] }
  const settings = { name: "s", exclude: [] }
  work.select({ review: rules, filters, ignoreText: "", settings, attributes: "" })
  work.list(
    packPaths(paths.map((path) => ({ path, status: "added" as const, oldMode: undefined, newMode: "100644" }))),
    true
  )
  work.beginDiff()
  work.push([diffOf(paths)])
  work.endDiff()
  const { binaries } = work.selectRead(maxBinaries)
  await Effect.runPromise(readBinaries(change, checkout, binaries, limits))
  const unnamed = work.boundSkipped()
  return {
    binaries,
    calls,
    files,
    reviewed: work.facts(0, paths.length).map(({ path, bytes }) => ({ path, bytes })),
    skipped: work.skipped(0, paths.length),
    unnamed
  }
}

const names = (count: number, extension: string) => Array.from({ length: count }, (_, at) => `f${at}.${extension}`)
const unlimited = { room: 1_000_000, places: 1_000_000 }

describe("binary files of a change", () => {
  it("are read up to a number; their count changes neither what is read nor what is sent to the thread", async () => {
    const paths = names(20_000, "py")
    const { binaries, calls, files, reviewed, skipped, unnamed } = await read(paths, () => "a = 1\n", unlimited)
    expect(binaries).toHaveLength(maxBinaries)
    expect(files).toHaveLength(maxBinaries)
    expect(calls).toHaveLength(maxBinaries + 1)
    expect(reviewed.map(({ path }) => path)).toEqual(paths.slice(0, maxBinaries))
    expect(skipped.map(({ path }) => path)).toEqual(paths.slice(maxBinaries, maxBinaries + maxNamedSkipped))
    const others = paths.length - maxBinaries - maxNamedSkipped
    expect(unnamed).toEqual({ counts: { unreadable: others }, unread: others })
    expect(new Set(skipped.map(({ reason, unread }) => `${reason} ${unread}`))).toEqual(new Set(["unreadable true"]))
  })

  it("that cannot be read make no call of their own", async () => {
    const { calls, skipped } = await read(["a.png", "b.py"], () => undefined, unlimited)
    expect(calls).toEqual(["endBinaries"])
    expect(skipped).toEqual([
      { path: "a.png", reason: "binary" },
      { path: "b.py", reason: "unreadable", unread: true }
    ])
  })

  it("take what the patch has left of its limits, in their order", async () => {
    const text = (path: string) => (path === "large.py" ? "a = 1\n".repeat(20) : "a = 1\n")
    const paths = ["small.py", "large.py", "other.py", "last.py"]
    // A line takes seven bytes of the patch.
    const { reviewed, skipped } = await read(paths, text, { room: 14, places: 100 })
    expect(reviewed).toEqual([
      { path: "small.py", bytes: 7 },
      { path: "other.py", bytes: 7 }
    ])
    expect(skipped.map(({ path }) => path)).toEqual(["large.py", "last.py"])
    const few = await read(paths, text, { room: 1000, places: 1 })
    expect(few.files).toEqual(["small.py"])
    expect(few.reviewed.map(({ path }) => path)).toEqual(["small.py"])
    const none = await read(paths, text, { room: 1000, places: -1 })
    expect(none.files).toEqual([])
    expect(none.skipped).toHaveLength(4)
  })
})
