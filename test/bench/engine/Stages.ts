/**
 * The time of a review by stage: how long the functions of its thread take, with the way there and back. The thread executes one
 * function at a time, so a function begins when the one before has ended.
 */
import { Effect, Layer } from "effect"
import * as ChangeThreads from "../../../src/engine/ChangeThreads.ts"
import type { ChangeThread } from "../../../src/engine/ChangeThreads.ts"
import type { WorkName } from "../../../src/engine/threads/Protocol.ts"

/** Functions that are not named belong to `other`. */
const functions = {
  parse: ["beginDiff", "push", "endDiff"],
  select: ["select", "list", "candidates", "choose", "selectRead", "facts", "boundSkipped", "skipped"],
  chunk: [
    "prepareFit",
    "tokensWithin",
    "compress",
    "portions",
    "commonTokens",
    "countTokens",
    "planPasses",
    "findInjections",
    "renderPass"
  ],
  scrub: ["showKept", "nameKept", "showAll", "showCompressed", "scrubText", "scrubDiff", "addWhole"],
  anchor: ["placeProblems"],
  identify: ["identify", "inspectLines", "patches"]
} as const satisfies Readonly<Record<string, ReadonlyArray<WorkName>>>

const stageOf = new Map<WorkName, string>(
  Object.entries(functions).flatMap(([stage, names]) => names.map((name) => [name, stage] as const))
)

const millis = new Map<string, number>()
let lastEnd = 0

/** Returns the milliseconds per stage since the last call. Reads of git and the time of the service's thread are in none of them. */
export const takeStages = (): ReadonlyMap<string, number> => {
  const taken = new Map([...Object.keys(functions), "other"].map((stage) => [stage, millis.get(stage) ?? 0]))
  millis.clear()
  return taken
}

const timed = (change: ChangeThread): ChangeThread => ({
  run: (name, ...input) =>
    Effect.suspend(() => {
      const started = performance.now()
      const stage = stageOf.get(name) ?? "other"
      return Effect.ensuring(
        change.run(name, ...input),
        Effect.sync(() => {
          const end = performance.now()
          millis.set(stage, (millis.get(stage) ?? 0) + end - Math.max(started, lastEnd))
          lastEnd = end
        })
      )
    })
})

export const layer = Layer.effect(
  ChangeThreads.ChangeThreads,
  Effect.map(ChangeThreads.ChangeThreads, (threads) => ({
    ...threads,
    open: (memoryMb: number) => Effect.map(threads.open(memoryMb), timed)
  }))
).pipe(Layer.provide(ChangeThreads.layer))
