/** How entries come from Redis: fields that are strings (redis/shared.lua); what is undefined is not there. */
import { Schema } from "effect"
import { Change, foldRepo, targetKey } from "../domain/Change.ts"
import { EntryStatus } from "../domain/Entry.ts"
import type { Entry } from "../domain/Entry.ts"
import type { Scheduled } from "./Plan.ts"
import type { Admission } from "./Queue.ts"
import { mayExpire } from "./Transitions.ts"

type Hash = Readonly<Record<string, string>>

const decodeStatus = Schema.decodeUnknownSync(EntryStatus)
const decodeChange = Schema.decodeUnknownSync(Schema.fromJsonString(Change))

const text = (hash: Hash, field: string): string => {
  const found = hash[field]
  if (found === undefined) throw new Error(`an entry has no ${field}`)
  return found
}
/** All fields are strings, numbers too. */
const number = (hash: Hash, field: string): number => {
  const found = Number(text(hash, field))
  if (!Number.isSafeInteger(found)) throw new Error(`${field} of an entry is ${hash[field]}, not a number`)
  return found
}

/** `{ a: "1" }` of `["a", "1"]`. */
export const pairs = (values: ReadonlyArray<string>): Hash => {
  const found: Record<string, string> = {}
  for (let at = 0; at + 1 < values.length; at += 2) found[values[at] ?? ""] = values[at + 1] ?? ""
  return found
}

/** Throws when it does not decode. */
const toEntry = (id: string, hash: Hash): Entry => {
  const change = decodeChange(hash["change"])
  const person = hash["person"]
  return {
    id,
    workspace: text(hash, "ws"),
    targetKey: text(hash, "target"),
    change: person === undefined ? change : { ...change, requestedBy: person },
    configHash: text(hash, "config"),
    priority: number(hash, "prio"),
    status: decodeStatus(hash["status"]),
    events: (hash["events"] ?? "").split("\n").filter((event) => event !== ""),
    admittedAt: number(hash, "admitted"),
    dueAt: number(hash, "due"),
    attempts: number(hash, "attempts"),
    losses: number(hash, "losses"),
    expires: hash["expires"] === "1",
    reason: hash["reason"],
    token: number(hash, "token"),
    leaseUntil: hash["lease"] === undefined ? undefined : number(hash, "lease"),
    owner: hash["owner"],
    cancelRequested: hash["cancel"]
  }
}

/** `[id, fields]`, as the scripts answer an entry. */
const Whole = Schema.Tuple([Schema.String, Schema.Array(Schema.String)])
const decodeAnswer = Schema.decodeUnknownSync(Whole)
const decodeAnswers = Schema.decodeUnknownSync(Schema.Array(Whole))
const fromAnswer = ([id, flat]: typeof Whole.Type): Entry => toEntry(id, pairs(flat))
export const decodeWhole = (answer: unknown): Entry => fromAnswer(decodeAnswer(answer))
export const decodeWholes = (answers: unknown): ReadonlyArray<Entry> => decodeAnswers(answers).map(fromAnswer)

const Light = Schema.Tuple([
  Schema.String,
  Schema.Literals(["waiting", "ready", "running"]),
  Schema.String,
  Schema.String,
  Schema.Int,
  Schema.Int,
  Schema.Int
])
const Survey = Schema.Tuple([Schema.Literals([0, 1]), Schema.String, Schema.Array(Light), Schema.Array(Light)])
const decodeSurveyed = Schema.decodeUnknownSync(Survey)
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
  const [paused, nextAt, out, due] = decodeSurveyed(answer)
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
