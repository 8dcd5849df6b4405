/**
 * Reads diffs of one mirror through one `git diff-tree --stdin` while it is idle, because starting a process from a large parent
 * costs more than a small diff. Each request is a pair of trees and a line that is not an object id, which git echoes after all
 * preceding output. A diff whose reader stops early makes the process unusable.
 */
import { randomBytes } from "node:crypto"
import { Cause, Effect, Stream } from "effect"
import type { Scope } from "effect"
import type { Reason } from "../../domain/Reason.ts"
import { CheckoutError } from "../Checkout.ts"
import type { ProcessLimits } from "../process/ProcessLimits.ts"
import { diffOptions, diffSettings } from "./DiffStream.ts"
import { endError, startGit } from "./GitProcess.ts"
import type { GitCommand } from "./GitProcess.ts"
import { eachWithinTime, localTime } from "./TimeLimit.ts"
import type { TimeLimit } from "./TimeLimit.ts"

export interface DiffReader {
  /**
   * Streams `diff-tree <from> <to>` for full ids of two trees; undefined while another diff runs and after the process has ended.
   */
  readonly diff: (
    from: string,
    to: string
  ) => Effect.Effect<Stream.Stream<Uint8Array, CheckoutError> | undefined, never, Scope.Scope>
  /** True when the process accepts no further requests. */
  readonly isOver: () => boolean
}

/** Git caches the trees that it has read, so the process is replaced after this number of diffs. */
const maxDiffs = 500

export const openDiffReader = Effect.fnUntraced(function* (
  mirror: string,
  limits: ProcessLimits,
  time: TimeLimit = localTime("diff")
): Effect.fn.Return<DiffReader, never, Scope.Scope> {
  const args = ["diff-tree", "--stdin", ...diffOptions]
  const command: GitCommand = { args, gitDir: mirror, home: mirror, limits, settings: diffSettings }
  const child = yield* startGit(command)
  // No line of a diff starts like this, and the author of a change cannot guess it.
  const last = Buffer.from(`end-${randomBytes(16).toString("hex")}\n`)
  let state: "free" | "busy" | "over" = "free"
  let requested = 0
  void child.ended.then(() => {
    state = "over"
  })

  /** Undefined: git has ended. */
  const chunk = Effect.callback<Buffer | undefined>((resume) => {
    const { stdout } = child
    const checkBuffer = () => {
      const read: Buffer | null = stdout.read()
      if (read === null && !stdout.readableEnded && !stdout.destroyed) return
      stop()
      resume(Effect.succeed(read ?? undefined))
    }
    const events = ["readable", "end", "close"] as const
    const stop = () => {
      for (const event of events) stdout.off(event, checkBuffer)
    }
    for (const event of events) stdout.on(event, checkBuffer)
    checkBuffer()
    return Effect.sync(stop)
  })
  const failure = (why: Reason) =>
    new CheckoutError({ reason: "failed", why: { _tag: "ProgramFailed", command: "git diff-tree", why } })
  const ended = Effect.flatMap(
    Effect.promise(() => child.ended),
    (end) => Effect.fail(end.code === 0 ? failure({ _tag: "EndedEarly" }) : endError(command, end))
  )

  const diff: DiffReader["diff"] = Effect.fnUntraced(function* (from, to) {
    if (state !== "free") return undefined
    state = "busy"
    requested += 1
    let isRead = false
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        if (state === "busy") state = isRead && requested < maxDiffs ? "free" : "over"
      })
    )
    const first = Buffer.from(`${from} ${to}\n`)
    child.stdin.write(Buffer.concat([first, last]))
    let isBegun = false
    let held = Buffer.alloc(0)
    const next = Effect.gen(function* () {
      while (!isRead) {
        const read = yield* chunk
        if (read === undefined) return yield* ended
        held = Buffer.concat([held, read])
        if (!isBegun) {
          if (held.length < first.length && !held.equals(last)) continue
          // Git prints nothing about missing trees.
          if (!held.subarray(0, first.length).equals(first)) return yield* failure({ _tag: "UnknownTrees" })
          isBegun = true
          held = held.subarray(first.length)
        }
        isRead = held.subarray(-last.length).equals(last)
        const ready = held.subarray(0, Math.max(0, isRead ? held.length - last.length : held.length - last.length + 1))
        held = held.subarray(ready.length)
        if (ready.length > 0) return [ready] as const
      }
      return yield* Cause.done()
    })
    return Stream.fromPull(Effect.succeed(next)).pipe(eachWithinTime("diff-tree", time))
  })
  return { diff, isOver: () => state === "over" }
})
