import { expect, it } from "vitest"
import { LeaseToken } from "../../../src/domain/FencingToken.ts"
import type { Entry } from "../../../src/domain/Entry.ts"
import { TargetKey } from "../../../src/domain/Keys.ts"
import { toPosition } from "../../../src/queue/operator/Waiting.ts"
import type { PositionContext } from "../../../src/queue/operator/Waiting.ts"
import { change } from "../Admissions.ts"

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
const around: PositionContext = { now: 100, pause: undefined, inFlight: [], limits: { computing: 1, awaiting: 1 } }
const pause = { scope: "workspace", name: "app", reason: "ada: too noisy", since: 5 } as const
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
  readonly why: string
  readonly text: string
  readonly until?: number
}> = [
  { name: "pause before all else", entry: { dueAt: 500 }, around: { pause }, why: "paused", text: "too noisy" },
  { name: "not due", entry: { dueAt: 500, reason: "429" }, why: "not_due", text: "not due yet (429)", until: 500 },
  { name: "target", around: { inFlight: [other] }, why: "target_busy", text: "entry o of the same target is running" },
  {
    name: "places",
    around: { inFlight: [{ ...other, targetKey: TargetKey.make("u") }] },
    why: "workspace_full",
    text: "all 1 slots"
  },
  {
    name: "turn, where the entry in flight awaits its model",
    around: { inFlight: [{ ...other, targetKey: TargetKey.make("u"), awaitsModel: true }] },
    why: "turn",
    text: "others are first"
  },
  { name: "turn", why: "turn", text: "others are first" },
  { name: "executor", entry: { status: "ready" }, why: "executor", text: "free executor" },
  {
    name: "running",
    entry: { status: "running", owner: "n/1", leaseUntil: 9 },
    why: "running",
    text: "runs on n",
    until: 9
  },
  {
    name: "awaiting",
    entry: { status: "running", owner: "n/1", awaitsModel: true },
    why: "running",
    text: "waits for its model on n"
  },
  {
    name: "ending",
    entry: { status: "running", cancelRequested: "closed" },
    why: "cancelling",
    text: "is being cancelled: closed"
  },
  { name: "over", entry: { status: "dead", reason: "3 attempts" }, why: "ended", text: "dead (3 attempts)" }
]

it.each(cases)("returns what an entry waits for: $name", ({ entry: over, around: rest, why, text, until }) => {
  const answer = toPosition({ ...entry, ...over }, { ...around, ...rest })
  expect(answer).toMatchObject({ why, until })
  expect(answer.text).toContain(text)
})
