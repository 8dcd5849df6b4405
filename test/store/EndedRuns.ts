/** Runs that end in every way, for the tests of statistics. */
import { Effect } from "effect"
import type { Analysis } from "../../src/domain/Analysis.ts"
import { targetKey } from "../../src/domain/Change.ts"
import { LeaseToken } from "../../src/domain/FencingToken.ts"
import { newId } from "../../src/domain/Ids.ts"
import type { Publication } from "../../src/domain/Publication.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { StoreError } from "../../src/database/StoreError.ts"
import { analysis, change, publication } from "./Fixtures.ts"

export const token = LeaseToken.make(1)
export const by = { agent: "native-llm", maxProblems: 50 }

export interface RunOptions {
  readonly workspace?: string
  readonly team?: string
  readonly author?: string
  readonly entryId?: string
  readonly repo?: string
  readonly trigger?: string
  readonly hostId?: number
  readonly number?: number
  readonly head?: string
  readonly startedAt?: number
}

/** Begins a run; returns its id. */
export const beginRun: (options?: RunOptions) => Effect.Effect<string, StoreError, Runs> = Effect.fnUntraced(
  function* ({
    workspace = "app",
    team,
    author,
    entryId = newId(),
    repo = "Acme/App",
    trigger = "main",
    hostId,
    number = 7,
    head = "a".repeat(40),
    startedAt = 1000
  } = {}) {
    const own = change(number, head)
    const named = { ...own.repo, fullName: repo, ...(hostId === undefined ? {} : { hostId }) }
    const person = author === undefined ? {} : { author: { username: author } }
    const subject = { ...own, ...person, workspace, trigger, repo: named }
    const run = yield* (yield* Runs).begin(
      {
        entryId,
        workspace,
        team,
        targetKey: targetKey(subject),
        change: subject,
        head,
        base: undefined,
        configHash: "c0ffee"
      },
      token,
      startedAt
    )
    return run === undefined ? yield* Effect.die(new Error("The run should have begun")) : run.id
  }
)

/** Begins a run and stores its analysis; returns its id. */
export const publishRun: (
  options?: RunOptions & { readonly analysis?: Analysis; readonly publications?: ReadonlyArray<Partial<Publication>> }
) => Effect.Effect<string, StoreError, Runs> = Effect.fnUntraced(function* (options = {}) {
  const id = yield* beginRun(options)
  const runs = yield* Runs
  const rows = (options.publications ?? []).map((row) => publication({ ...row, runId: id }))
  yield* runs.complete(id, token, options.analysis ?? analysis, rows, 2000)
  return id
})

/** Marks the publications of a run as sent. `posted`: the comments that each has at the host. */
export const sendAll = Effect.fnUntraced(function* (id: string, posted?: ReadonlyArray<string>) {
  const outbox = yield* Outbox
  for (const row of yield* outbox.ofRun(id)) {
    const { token: publisher } = yield* outbox.takeOver(row.targetKey, 3)
    yield* outbox.move(row.id, "pending", { status: "sent", ...(posted === undefined ? {} : { posted }) }, publisher, 4)
  }
})

export const settle = (
  id: string,
  now: number,
  to: "succeeded" | "failed" | "skipped" = "succeeded",
  partial = false
) => Runs.use((runs) => runs.settle(id, to, { partial, by }, now))
