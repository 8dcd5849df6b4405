/** Formats entries, batches and pauses of the queue for people. */
import type { BatchRecord, EntryRecord, PauseRecord } from "../admin/api/QueueRecords.ts"
import { readReason } from "../domain/Reason.ts"
import { inEnglish } from "../text/en.ts"
import { count, second } from "./Wording.ts"

/** Formats the end of a wait. A running review renews its lease until it ends. */
export const formatUntil = ({ status, until }: EntryRecord): string => {
  if (until === undefined) return ""
  return status === "running" ? `, lease until ${second(until)}` : `, until ${second(until)}`
}

export const formatEntry = (entry: EntryRecord): string => {
  const { id, position, status, target_key, why, workspace } = entry
  const turn = position === undefined ? "" : `, position ${position}`
  return `${id}  ${status.padEnd(10)} ${workspace}  ${target_key}  ${inEnglish(why)}${turn}${formatUntil(entry)}`
}

export const formatBatch = ({ commits, due_at, id, status, stream, workspace }: BatchRecord): string =>
  `${id}  ${status.padEnd(10)} ${workspace}  ${stream}  ${count(commits, "commit")}, waits for the previous batch, due ${second(due_at)}`

export const formatPause = ({ name, reason, scope, since }: PauseRecord): string =>
  `${scope} ${name} is paused since ${second(since)}: ${inEnglish(reason)}`

/** Fields in the order of their lines. Fields with a time end in `_at`, or are `until` and `starts_after`. */
const fields = [
  "status",
  "why",
  "until",
  "position",
  "starts_after",
  "behind",
  "workspace",
  "stream",
  "target_key",
  "head",
  "base",
  "title",
  "priority",
  "members",
  "commits",
  "admitted_at",
  "due_at",
  "attempts",
  "node",
  "reason",
  "events"
] as const

const formatValue = (name: string, value: unknown): string => {
  const reason = readReason(value)
  if (reason !== undefined) return inEnglish(reason)
  if (Array.isArray(value)) return value.join(" ")
  return typeof value === "string" && (name.endsWith("_at") || name === "until" || name === "starts_after")
    ? second(value)
    : String(value)
}

/** Returns one line per field of an entry or a batch. */
export const formatDetails = (record: object): ReadonlyArray<string> => {
  const item: Readonly<Record<string, unknown>> = { ...record }
  const named = [[String(item["kind"]), item["id"]] as const, ...fields.map((name) => [name, item[name]] as const)]
  return named.flatMap(([name, value]) =>
    value === undefined || value === null || value === ""
      ? []
      : [`${name.replace(/_(?:at|key)$/, "").padEnd(10)} ${formatValue(name, value)}`]
  )
}
