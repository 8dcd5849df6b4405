/** The lifetime of the cached earlier comments of a review. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { OperationId, TargetKey } from "../../src/domain/Keys.ts"
import type { Operation, Publication } from "../../src/domain/Publication.ts"
import type { ForgeClient } from "../../src/forge/Forge.ts"
import { forgeTable } from "../../src/forge/hosts/ForgeTable.ts"
import { listExistingThreads, listReactions, makeExistingThreads } from "../../src/outputs/ExistingThreads.ts"
import { renderMarker } from "../../src/outputs/Marker.ts"
import { testSnapshotWith } from "../harness/ActorParts.ts"
import { change } from "./Fixtures.ts"
import { newTraffic } from "../harness/Owners.ts"

const head = "a".repeat(40)
const review: Operation = { _tag: "Review", head, event: "COMMENT", body: "", comments: [] }
const settle: Operation = { _tag: "Threads", head, present: [], analysed: [], changed: [] }

const row = (operation: Operation, more: Partial<Publication> = {}): Publication => ({
  id: "p",
  operationId: OperationId.make("o"),
  runId: "run-1",
  targetKey: TargetKey.make("host:team/shop:pull_request:1"),
  channel: "host",
  operation,
  status: "pending",
  position: 0,
  attempts: 0,
  ...more
})

const begin = () => {
  const looks: Array<number> = []
  const profile = testSnapshotWith("shop", "host").current().triggers.get("host")
  if (profile === undefined) throw new Error("the trigger is missing")
  const client = (): ForgeClient => {
    const made = forgeTable.gitea.client(profile, newTraffic())
    const list = (_: unknown, number: number) =>
      Effect.as(
        Effect.sync(() => looks.push(number)),
        []
      )
    return { ...made, threads: { ...made.threads, list } }
  }
  return { looks, client, standingOf: makeExistingThreads() }
}

describe("the cache of earlier comments", () => {
  it.effect("serves all rows of a review, and none of another review or channel", () =>
    Effect.gen(function* () {
      const { looks, client, standingOf } = begin()
      const one = client()
      for (const operation of [review, review, settle]) yield* standingOf(one, change, "maintainers", row(operation))
      expect(looks).toHaveLength(1)
      yield* standingOf(one, change, "maintainers", row(review, { runId: "run-2" }))
      yield* standingOf(one, change, "maintainers", row(review, { runId: "run-2", channel: "other" }))
      expect(looks).toHaveLength(3)
    })
  )

  it.effect.each<readonly [string, { millis?: number; attempts?: number; other?: boolean }, number]>([
    ["stands for a minute", { millis: 59_999 }, 1],
    ["is taken again after a minute", { millis: 60_000 }, 2],
    ["is taken again when the row is tried again", { attempts: 1 }, 2],
    ["is taken again with other credentials", { other: true }, 2]
  ])("%s", ([, { millis = 0, attempts = 0, other = false }, expected]) =>
    Effect.gen(function* () {
      const { looks, client, standingOf } = begin()
      const one = client()
      yield* standingOf(one, change, "maintainers", row(review))
      yield* TestClock.adjust(millis)
      yield* standingOf(other ? client() : one, change, "maintainers", row(review, { attempts }))
      expect(looks).toHaveLength(expected)
    })
  )

  it.effect("is dropped with the last row", () =>
    Effect.gen(function* () {
      const { looks, client, standingOf } = begin()
      const one = client()
      for (const operation of [review, settle, settle]) yield* standingOf(one, change, "maintainers", row(operation))
      expect(looks).toHaveLength(2)
    })
  )

  it.effect("holds a limited number of reviews at a time", () =>
    Effect.gen(function* () {
      const { looks, client, standingOf } = begin()
      const one = client()
      for (let run = 0; run < 65; run++)
        yield* standingOf(one, change, "maintainers", row(review, { runId: `run-${run}` }))
      yield* standingOf(one, change, "maintainers", row(settle, { runId: "run-64" }))
      expect(looks).toHaveLength(65)
      yield* standingOf(one, change, "maintainers", row(settle, { runId: "run-0" }))
      expect(looks).toHaveLength(66)
    })
  )
})

describe("who dismissed a finding", () => {
  const fp = "f".repeat(32)
  const op = OperationId.make("o")
  const author = change.author?.username ?? ""
  const reactionTo = Effect.fnUntraced(function* (
    dismissedBy: ReadonlyArray<string>,
    dismissal: "maintainers" | "anyone",
    state?: "dismissed" | "withdrawn"
  ) {
    const one = begin().client()
    const mark = state === undefined ? "" : renderMarker({ op, scope: "s", state })
    const body = `Off by one\n\n${renderMarker({ op, fp })}\n\n${mark}`
    const thread = { hostId: "1", body, path: "a.ts", line: 1, side: "new", resolved: false, replied: false } as const
    const client: ForgeClient = {
      ...one,
      canWrite: (_, name) => Effect.succeed(name === "kim"),
      threads: { ...one.threads, list: () => Effect.succeed([{ ...thread, dismissedBy }]) }
    }
    return listReactions(yield* listExistingThreads(client, change, 1, dismissal))
  })

  it.effect.each([
    ["a maintainer among others", ["eve", "kim"], "maintainers", undefined, { dismissed: true, by: "maintainer" }],
    ["nobody with the permission", ["eve", author], "maintainers", undefined, { dismissed: false }],
    ["an account, where every one may", ["eve"], "anyone", undefined, { dismissed: true, by: "other" }],
    ["the author, where every account may", [author], "anyone", undefined, { dismissed: true, by: "author" }],
    ["a maintainer, by a command", [], "maintainers", "dismissed", { dismissed: true, by: "maintainer" }],
    ["nobody: it was withdrawn", [], "maintainers", "withdrawn", { dismissed: true, withdrawn: true }]
  ] as const)("is %s", ([, people, dismissal, state, expected]) =>
    Effect.gen(function* () {
      expect(author).not.toBe("")
      expect(yield* reactionTo(people, dismissal, state)).toEqual([{ fp, replied: false, ...expected }])
    })
  )
})
