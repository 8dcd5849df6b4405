/** Formats edits of the database's configuration: changed fields, whom they affect, why they are refused. */
import type { Difference } from "../config/Diff.ts"
import type { BlastRadius } from "../config/revisions/ConfigEditor.ts"
import type { CredentialChange, Receiver } from "../config/revisions/CredentialChange.ts"
import type { PublishProblem } from "../config/revisions/Publish.ts"
import type { UnfinishedList } from "./UnfinishedReviews.ts"
import { count, oneLine } from "./Wording.ts"
import { inEnglish } from "../text/en.ts"

export const describeProblem = ({ code, entity, path, reason }: PublishProblem): string =>
  oneLine(`${[entity, path].filter(Boolean).join(" ") || "configuration"}: ${inEnglish(reason)} (${code})`)

export const describeDifference = ({
  after,
  before,
  change,
  names
}: Pick<Difference, "after" | "before" | "change" | "names">): string => {
  const field = oneLine(names.join(" "))
  if (change === "added") return `+ ${field} = ${JSON.stringify(after)}`
  if (change === "removed") return `- ${field} = ${JSON.stringify(before)}`
  return `~ ${field}: ${JSON.stringify(before)} -> ${JSON.stringify(after)}`
}

const describeReceiver = (receiver: Receiver): string => {
  const parts = Object.entries(receiver).map(
    ([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`
  )
  return parts.length === 0 ? "its default destination" : parts.join(", ")
}

/** Describes what an edit changes about a credential: its value is masked in the changed fields. */
export const describeCredential = ({ after, before, change, entity, from, path }: CredentialChange): string => {
  const how = change === "renamed" ? `renamed from ${from}` : change === "set" ? "set" : "kept"
  const [old, next] = [before && describeReceiver(before), describeReceiver(after)]
  const where = old === undefined || old === next ? `sent to ${next}` : `sent to ${next}; before: ${old}`
  return oneLine(`! credential ${entity} ${path}: ${how}, ${where}`)
}

/** Maximum number of names in one line. */
const maxNames = 20

/** Returns a line for each kind of thing whose effective values an edit changes. */
export const listAffected = (radius: BlastRadius): ReadonlyArray<string> => {
  const affected: ReadonlyArray<readonly [string, ReadonlyArray<number | string>]> = [
    ["workspace", radius.workspaces],
    ["trigger", radius.triggers],
    ["channel", radius.channels],
    ["route rule", radius.routes.map((position) => position + 1)],
    ["command binding", radius.bindings]
  ]
  const lines = affected.flatMap(([word, names]) => {
    const listed = names.slice(0, maxNames).join(", ")
    const more = names.length > maxNames ? `, and ${names.length - maxNames} more` : ""
    return names.length === 0 ? [] : [`affects ${count(names.length, word)}: ${oneLine(listed)}${more}`]
  })
  return lines.length === 0 ? ["affects no workspace, trigger, channel, route rule or command binding"] : lines
}

/** Describes the reviews that keep the configuration of their admission. */
export const describeUnfinished = ({ items, more }: UnfinishedList): ReadonlyArray<string> => {
  if (items.length === 0) return []
  const names = items.map(({ targetKey, workspace }) => `${workspace} ${targetKey}`.trim()).join(", ")
  return [`does not affect ${count(items.length, "unfinished review")}: ${oneLine(names)}${more ? ", and more" : ""}`]
}
