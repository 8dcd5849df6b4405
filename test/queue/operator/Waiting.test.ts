import { expect, it } from "vitest"
import { LeaseToken } from "../../../src/domain/FencingToken.ts"
import type { Entry } from "../../../src/domain/Entry.ts"
import { TargetKey } from "../../../src/domain/Keys.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import type { ReasonTag } from "../../../src/domain/Reason.ts"
import { toPosition } from "../../../src/queue/operator/Waiting.ts"
import type { PositionContext } from "../../../src/queue/operator/Waiting.ts"
import { change } from "../Admissions.ts"
import { inEnglish } from "../../../src/text/en.ts"

const entry: Entry = {
  id: "e",
  workspace: "app",
  targetKey: TargetKey.make("t"),
  change: change(1, "a"),
  configHash: "c",
  priority: 10,
  status: "waiting",
  events: [],
  admittedAt: 0,
  dueAt: 100,
  attempts: 0,
  losses: 0,
  expires: false,
  awaitsModel: false,
  token: LeaseToken.make(0)
}
const around: PositionContext = {
  now: 100,
  pause: undefined,
  inFlight: [],
  limits: { computing: 1, awaiting: 1, replies: 1 }
}
const pause = { scope: "workspace", name: "app", reason: verbatimReason("ada: too noisy"), since: 5 } as const
const other = {
  id: "o",
  status: "running",
  targetKey: TargetKey.make("t"),
  repo: "r",
  priority: 10,
  admittedAt: 0,
  dueAt: 0,
  awaitsModel: false
} as const

const cases: ReadonlyArray<{
  readonly name: string
  readonly entry?: Partial<Entry>
  readonly around?: Partial<PositionContext>
  readonly why: ReasonTag
  readonly text: string
  readonly until?: number
}> = [
  {
    name: "pause before all else",
    entry: { dueAt: 500 },
    around: { pause },
    why: "WorkspacePaused",
    text: "too noisy"
  },
  {
    name: "not due",
    entry: { dueAt: 500, reason: verbatimReason("429") },
    why: "NotDue",
    text: "not due yet (429)",
    until: 500
  },
  { name: "target", around: { inFlight: [other] }, why: "TargetBusy", text: "entry o of the same target is running" },
  {
    name: "places",
    around: { inFlight: [{ ...other, targetKey: TargetKey.make("u") }] },
    why: "WorkspaceFull",
    text: "all 1 slots"
  },
  {
    name: "turn, where the entry in flight awaits its model",
    around: { inFlight: [{ ...other, targetKey: TargetKey.make("u"), awaitsModel: true }] },
    why: "AwaitsTurn",
    text: "others are first"
  },
  { name: "turn", why: "AwaitsTurn", text: "others are first" },
  { name: "executor", entry: { status: "ready" }, why: "AwaitsExecutor", text: "free executor" },
  {
    name: "running",
    entry: { status: "running", owner: "n/1", leaseUntil: 9 },
    why: "Runs",
    text: "runs on n",
    until: 9
  },
  {
    name: "awaiting",
    entry: { status: "running", owner: "n/1", awaitsModel: true },
    why: "AwaitsModel",
    text: "waits for its model on n"
  },
  {
    name: "ending",
    entry: { status: "running", cancelRequested: verbatimReason("closed") },
    why: "RunsUntilCancelled",
    text: "is being cancelled: closed"
  },
  {
    name: "over",
    entry: { status: "dead", reason: verbatimReason("3 attempts") },
    why: "Ended",
    text: "dead (3 attempts)"
  }
]

it.each(cases)("returns what an entry waits for: $name", ({ entry: over, around: rest, why, text, until }) => {
  const answer = toPosition({ ...entry, ...over }, { ...around, ...rest })
  expect(answer).toMatchObject({ why: { _tag: why }, until })
  expect(inEnglish(answer.why)).toContain(text)
})
