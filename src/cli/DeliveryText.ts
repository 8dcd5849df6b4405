/** Formats deliveries for people. */
import type { DeliveryRecord } from "../admin/api/EventRecords.ts"
import { inEnglish } from "../text/en.ts"
import { count, oneLine, second } from "./Wording.ts"

const join = (parts: ReadonlyArray<string | false | undefined>, separator: string): string =>
  parts.filter(Boolean).join(separator)

/** Names the event, or the search that found it (actors/catchup/CatchUp.ts). */
export const formatEvent = ({ action, event }: Pick<DeliveryRecord, "action" | "event">): string =>
  event === "catch_up" && action !== undefined
    ? inEnglish({ _tag: "FoundBySearch", occasion: action })
    : join([event, action], " ")

/** Formats what happened: `pull_request opened by ada, head 0a1b2c3d4e5f into main: queued`. */
export const formatOccurrence = (item: DeliveryRecord): string => {
  const what = join([formatEvent(item), item.command !== undefined && `/aicr ${item.command}`], " ")
  const by = item.sender === undefined ? "" : ` by ${item.sender}`
  const head = item.head === undefined ? "" : `, head ${item.head.slice(0, 12)}`
  const branch = item.branch === undefined ? "" : `, branch ${item.branch}`
  const reason = item.reason === undefined ? "" : ` (${item.reason})`
  return oneLine(`${what}${by}${head}${branch}: ${item.decision}${reason}`)
}

/** Lines below an occurrence: the rule, repetitions and the outcome. */
export const listConsequences = (item: DeliveryRecord): ReadonlyArray<string> => [
  ...(item.rule === undefined ? [] : [`rule: ${oneLine(inEnglish(item.rule))}`]),
  ...(item.duplicates === 0
    ? []
    : [`${count(item.duplicates, "duplicate")}, the latest at ${second(item.duplicated_at ?? "")}`]),
  ...(item.outcome === undefined
    ? item.outcome_reason === undefined
      ? []
      : [`waits for its next attempt: ${oneLine(inEnglish(item.outcome_reason))}`]
    : [
        `outcome: ${item.outcome}${item.outcome_reason === undefined ? "" : ` (${oneLine(inEnglish(item.outcome_reason))})`}`
      ])
]

/** Formats a delivery as one line. */
export const formatDelivery = (item: DeliveryRecord): string => {
  const target = `${item.repo ?? "-"}${item.number === undefined ? "" : `#${item.number}`}`
  const times = item.duplicates === 0 ? "" : `  +${count(item.duplicates, "duplicate")}`
  const outcome = item.outcome === undefined ? "" : `  ${item.outcome}`
  return `${second(item.received_at)}  ${item.id}  ${item.workspace ?? "-"}  ${target}  ${formatOccurrence(item)}${times}${outcome}`
}
