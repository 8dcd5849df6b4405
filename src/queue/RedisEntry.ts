/** How entries stand in Redis: a hash of strings (redis/shared.lua); what is undefined is not there. And how replies are read. */
import { Schema } from "effect"
import { Change, foldRepo, targetKey } from "../domain/Change.ts"
import { EntryStatus } from "../domain/Entry.ts"
import type { Entry } from "../domain/Entry.ts"
import type { Scheduled } from "./Plan.ts"
import type { Admission } from "./Queue.ts"
import { mayExpire } from "./Transitions.ts"

const whole = Schema.NumberFromString.check(Schema.isInt())
const Hash = Schema.Struct({
  status: EntryStatus,
  ws: Schema.String,
  target: Schema.String,
  change: Schema.fromJsonString(Change),
  person: Schema.optional(Schema.String),
  config: Schema.String,
  prio: whole,
  admitted: whole,
  due: whole,
  attempts: whole,
  losses: whole,
  expires: Schema.Literals(["0", "1"]),
  token: whole,
  events: Schema.optional(Schema.String),
  reason: Schema.optional(Schema.String),
  lease: Schema.optional(whole),
  owner: Schema.optional(Schema.String),
  cancel: Schema.optional(Schema.String)
})
const decodeHash = Schema.decodeUnknownSync(Hash)

const Pairs = Schema.Array(Schema.String)
/** `{ a: "1" }` of `["a", "1"]`. */
export const decodePairs = (flat: unknown): Readonly<Record<string, string>> => {
  const values = Schema.decodeUnknownSync(Pairs)(flat)
  const found: Record<string, string> = {}
  for (let at = 0; at + 1 < values.length; at += 2) found[values[at] ?? ""] = values[at + 1] ?? ""
  return found
}

/** Throws when it does not decode. */
export const toEntry = (id: string, hash: Readonly<Record<string, string>>): Entry => {
  const found = decodeHash(hash)
  const { person } = found
  return {
    id,
    workspace: found.ws,
    targetKey: found.target,
    change: person === undefined ? found.change : { ...found.change, requestedBy: person },
    configHash: found.config,
    priority: found.prio,
    status: found.status,
    events: (found.events ?? "").split("\n").filter((event) => event !== ""),
    admittedAt: found.admitted,
    dueAt: found.due,
    attempts: found.attempts,
    losses: found.losses,
    expires: found.expires === "1",
    reason: found.reason,
    token: found.token,
    leaseUntil: found.lease,
    owner: found.owner,
    cancelRequested: found.cancel
  }
}

/** `[id, fields]`, as the scripts answer an entry. */
const Whole = Schema.Tuple([Schema.String, Pairs])
export const decodeWhole = (answer: unknown): Entry => {
  const [id, flat] = Schema.decodeUnknownSync(Whole)(answer)
  return toEntry(id, decodePairs(flat))
}
export const decodeWholes = (answers: unknown): ReadonlyArray<Entry> =>
  Schema.decodeUnknownSync(Schema.Array(Schema.Unknown))(answers).map(decodeWhole)

const Light = Schema.Tuple([
  Schema.String,
  Schema.Literals(["waiting", "ready", "running"]),
  Schema.String,
  Schema.String,
  whole,
  whole,
  whole
])
const Survey = Schema.Tuple([Schema.Literals([0, 1]), Schema.String, Schema.Array(Light), Schema.Array(Light)])
const toScheduled = ([id, status, target, repo, priority, admittedAt, dueAt]: typeof Light.Type): Scheduled => ({
  id,
  status,
  targetKey: target,
  repo,
  priority,
  admittedAt,
  dueAt
})
export const decodeSurvey = (answer: unknown) => {
  const [paused, nextAt, out, due] = Schema.decodeUnknownSync(Survey)(answer)
  return {
    paused: paused === 1,
    nextAt: nextAt === "" ? undefined : Number(nextAt),
    out: out.map(toScheduled),
    due: due.map(toScheduled)
  }
}

/** The arguments of one admission (redis/admit.lua). */
export const admissionArgs = (item: Admission, id: string): ReadonlyArray<string | number> => {
  const { requestedBy = "", ...change } = item.change
  return [
    id,
    item.eventId,
    change.workspace,
    targetKey(change),
    foldRepo(change.repo.fullName),
    JSON.stringify(change),
    change.head ?? "",
    requestedBy,
    item.configHash,
    item.priority,
    item.admittedAt,
    item.dueAt,
    item.reason ?? "",
    mayExpire(item) ? 1 : 0
  ]
}
