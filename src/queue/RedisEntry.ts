/** How entries stand in Redis: an array whose places redis/shared.lua names too; what is undefined is false there. */
import { Schema } from "effect"
import { Change, foldRepo, targetKey } from "../domain/Change.ts"
import { EntryStatus, isDueAtOnce } from "../domain/Entry.ts"
import type { Entry } from "../domain/Entry.ts"
import { pack, unpack } from "./MessagePack.ts"
import type { Scheduled, Survey } from "./Plan.ts"
import type { Admission } from "./Queue.ts"
import { mayExpire } from "./Transitions.ts"

/** Where a due entry waits in its workspace, as redis/shared.lua has it. */
const place = (item: Admission, id: string, repo: string): string =>
  `${String(item.priority).padStart(3, "0")}\0${repo}\0${String(item.admittedAt).padStart(16, "0")}\0${id}`

/**
 * One admission (redis/admit.lua): the entry that it makes when nothing is there that it joins, and its change. Who asked stands in the
 * entry, since who joins may have asked, and not in the change.
 */
export const admissionTexts = (item: Admission, id: string): readonly [Buffer, string] => {
  const { change } = item
  const repo = foldRepo(change.repo.fullName)
  const entry = [
    id,
    "waiting",
    targetKey(change),
    repo,
    item.priority,
    item.admittedAt,
    item.dueAt,
    change.workspace,
    item.configHash,
    change.head ?? false,
    change.requestedBy ?? false,
    item.eventId,
    mayExpire(item),
    item.reason ?? false,
    0,
    0,
    0,
    false,
    false,
    false,
    isDueAtOnce(item) && place(item, id, repo)
  ]
  return [
    pack([entry]),
    JSON.stringify(change.requestedBy === undefined ? change : { ...change, requestedBy: undefined })
  ]
}

const isStatus = Schema.is(EntryStatus)
const decodeChange = Schema.decodeUnknownSync(Schema.fromJsonString(Change))

class Unreadable extends Error {
  constructor(what: string, value: unknown) {
    super(`${what} is ${JSON.stringify(value)}`)
  }
}

/** Of answers: strings come as bytes. All throw when they are given something else. */
export const listOf = (value: unknown, what: string): ReadonlyArray<unknown> => {
  if (Array.isArray(value)) return value
  throw new Unreadable(what, value)
}
export const bytesOf = (value: unknown, what: string): Buffer => {
  if (Buffer.isBuffer(value)) return value
  throw new Unreadable(what, value)
}
export const stringOf = (value: unknown, what: string): string => bytesOf(value, what).toString()
export const numberOf = (value: unknown, what: string): number => {
  if (typeof value === "number") return value
  throw new Unreadable(what, value)
}

/** Of records. */
const textOf = (value: unknown, what: string): string => {
  if (typeof value === "string") return value
  throw new Unreadable(what, value)
}
const textIfAny = (value: unknown, what: string) => (value === false ? undefined : textOf(value, what))

const statusOf = (value: unknown): EntryStatus => {
  if (isStatus(value)) return value
  throw new Unreadable("status", value)
}

export const linesOf = (text: string): ReadonlyArray<string> => (text === "" ? [] : text.split("\n"))

const recordOf = (record: unknown) => listOf(unpack(bytesOf(record, "an entry")), "an entry")

/** Of `[record, change]`, as the scripts answer an entry. Throws when it does not decode. */
export const toEntry = (answer: unknown): Entry => {
  const [record, text] = listOf(answer, "an entry")
  const at = recordOf(record)
  const change = decodeChange(stringOf(text, "change"))
  const person = textIfAny(at[10], "person")
  return {
    id: textOf(at[0], "id"),
    status: statusOf(at[1]),
    targetKey: textOf(at[2], "target"),
    priority: numberOf(at[4], "priority"),
    admittedAt: numberOf(at[5], "admission"),
    dueAt: numberOf(at[6], "due time"),
    workspace: textOf(at[7], "workspace"),
    configHash: textOf(at[8], "configuration"),
    change: person === undefined ? change : { ...change, requestedBy: person },
    events: linesOf(textOf(at[11], "events")),
    expires: at[12] === true,
    reason: textIfAny(at[13], "reason"),
    attempts: numberOf(at[14], "attempts"),
    losses: numberOf(at[15], "losses"),
    token: numberOf(at[16], "token"),
    owner: textIfAny(at[17], "owner"),
    leaseUntil: at[18] === false ? undefined : numberOf(at[18], "lease"),
    cancelRequested: textIfAny(at[19], "cancel")
  }
}

export const toEntries = (answer: unknown): ReadonlyArray<Entry> => listOf(answer, "entries").map(toEntry)

const toScheduled = (record: unknown): Scheduled => {
  const at = recordOf(record)
  const status = at[1]
  if (status !== "waiting" && status !== "ready" && status !== "running") throw new Unreadable("status", status)
  return {
    id: textOf(at[0], "id"),
    status,
    targetKey: textOf(at[2], "target"),
    repo: textOf(at[3], "repository"),
    priority: numberOf(at[4], "priority"),
    admittedAt: numberOf(at[5], "admission"),
    dueAt: numberOf(at[6], "due time")
  }
}

export const toSurvey = (answer: unknown): Survey => {
  const [paused, nextAt, out, due] = listOf(answer, "a survey")
  return {
    paused: paused === 1,
    nextAt: timeIfAny(nextAt, "next due time"),
    out: listOf(out, "entries").map(toScheduled),
    due: listOf(due, "entries").map(toScheduled)
  }
}

/** A number, or an empty text for none. */
export const timeIfAny = (value: unknown, what: string): number | undefined =>
  Buffer.isBuffer(value) && value.length === 0 ? undefined : numberOf(value, what)
