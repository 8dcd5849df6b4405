/** The record of a review holds what was read, commit by commit, without secrets and within its limit. */
import { Effect, Layer, Stream } from "effect"
import { expect, it } from "vitest"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import { ChangeThreads } from "../../../src/engine/ChangeThreads.ts"
import { recordReads } from "../../../src/engine/record/RecordReads.ts"
import { maxReadLength, readRecord } from "../../../src/engine/record/StoredRecord.ts"
import { layerFiles } from "../../../src/store/objects/FileObjects.ts"
import type { Checkout, Comparison } from "../../../src/vcs/Checkout.ts"
import { testThreads } from "../../harness/Threads.ts"
import { temporaryFolder } from "../../vcs/Repository.ts"
import { noSearch } from "../../harness/NoSearch.ts"

const comparison = (...pieces: ReadonlyArray<string>): Comparison => ({
  changes: () => Effect.succeed([{ path: "a.ts", status: "modified", oldMode: "100644", newMode: "100644" }]),
  sizes: () => Effect.succeed([7]),
  diff: () => Stream.fromIterable(pieces.map((text): Uint8Array => Buffer.from(text)))
})

const checkoutOf = (commits: ReadonlyArray<Comparison>, whole: string): Checkout => ({
  directory: Effect.die("not used"),
  head: "h",
  from: "f",
  ...comparison(whole),
  commits: Effect.succeed(commits.map((one, index) => ({ ...one, id: `id${index}`, title: `title ${index}` }))),
  file: (path) => Effect.succeed(`text of ${path}`),
  list: () => Effect.succeed([]),
  blame: () => Effect.succeed([]),
  search: noSearch
})

/** Returns the record after all diffs, and a file, have been read, and how often a thread was opened. */
const recorded = (commits: ReadonlyArray<Comparison>, whole = "whole ü\n") => {
  let opened = 0
  const counted = Layer.effect(
    ChangeThreads,
    Effect.map(ChangeThreads, (threads) => ({
      ...threads,
      open: (memoryMb: number) =>
        Effect.suspend(() => {
          opened++
          return threads.open(memoryMb)
        })
    }))
  ).pipe(Layer.provide(testThreads))
  return Effect.gen(function* () {
    const snapshot = yield* toSnapshot(
      {
        llm: {
          providers: [{ id: "p", kind: "openai_compatible", base_url: "http://127.0.0.1:1", api_key: "k" }],
          model_chain: { default: [{ provider: "p", model: "m" }] }
        },
        triggers: [{ name: "t", kind: "manual" }],
        workspaces: { instances: { w: { source_repo: { trigger: "t", repo: "a/b" } } } }
      },
      {}
    )
    const workspace = snapshot.workspaces.get("w")
    if (workspace === undefined) return yield* Effect.die("no workspace")
    const recording = yield* recordReads("run-1", checkoutOf(commits, whole))
    const { checkout } = recording
    yield* Stream.runDrain(checkout.diff([], false))
    for (const commit of (yield* checkout.commits ?? Effect.undefined) ?? []) {
      yield* Stream.runDrain(commit.diff([], false))
    }
    yield* checkout.file("a.ts", "head", 100)
    const filters = { watchPath: [], include: [], exclude: [] }
    yield* recording.keep({ snapshot, workspace, checkout, title: "t", description: undefined, filters })
    return { ...(yield* readRecord("run-1")), opened }
  }).pipe(
    Effect.scoped,
    Effect.provide(Layer.mergeAll(layerFiles({ root: temporaryFolder() }), counted)),
    Effect.runPromise
  )
}

it("a record has the whole diff, that of each commit, and the files, without secrets", async () => {
  const read = await recorded([
    comparison("+const token", ' = "ghp_aB3xY9qLmN8pR7sT6uV5wX4yZ3aB2cD1eF0g"\n', "+x\n"),
    comparison("+ü\n")
  ])
  expect(read.diff).toBe("whole ü\n")
  expect(read.record?.commits).toEqual([
    { id: "id0", title: "title 0", diff: '+const token = "[secret removed]"\n+x\n' },
    { id: "id1", title: "title 1", diff: "+ü\n" }
  ])
  expect(read.record?.files).toEqual([{ key: "head:a.ts", text: "text of a.ts" }])
  expect(read.record?.cut).toBe(false)
})

it.each([
  ["short", 10, 1],
  ["long", 100_000, 2]
])("a %s diff is stored without secrets", async (_, lines, threads) => {
  const text = "+line\n".repeat(lines)
  const read = await recorded([], `${text}+const token = "ghp_aB3xY9qLmN8pR7sT6uV5wX4yZ3aB2cD1eF0g"\n`)
  expect(read.diff).toBe(`${text}+const token = "[secret removed]"\n`)
  expect(read.opened).toBe(threads)
})

it("a commit that does not fit is omitted, and the record is marked as cut", async () => {
  const piece = `${"+a\n".repeat(1_000_000)}`
  const pieces = Array.from({ length: Math.ceil(maxReadLength / piece.length) }, () => piece)
  const read = await recorded([comparison(...pieces), comparison("+b\n")])
  expect(read.record?.commits?.map(({ diff }) => diff.length)).toEqual([0, 0])
  expect(read.record?.cut).toBe(true)
})
