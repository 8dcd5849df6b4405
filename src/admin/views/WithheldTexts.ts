/** Returns the texts of publications: those that a review in shadow would have published, and those of comments. Pure. */
import { commentsIn } from "../../domain/Publication.ts"
import type { Operation, Publication } from "../../domain/Publication.ts"
import type { Run } from "../../store/Runs.ts"
import type { WithheldTextRecord } from "../api/RunRecords.ts"

/** Removes the hidden markers of the service, which end with the first `-->`. */
const withoutMarkers = (text: string): string =>
  text
    .split("<!-- aicr:")
    .map((part, index) => {
      const end = index === 0 ? -3 : part.indexOf("-->")
      return end === -1 ? "" : part.slice(end + 3)
    })
    .join("")
    .trim()

const listTexts = (operation: Operation): ReadonlyArray<Omit<WithheldTextRecord, "channel" | "operation">> => {
  switch (operation._tag) {
    case "CommitComment":
    case "IssueComment":
    case "Verdict":
    case "Reply":
      return [{ text: operation.body }]
    case "Chat":
    case "DirectMessage":
      return [{ text: `${operation.title}\n\n${operation.body}` }]
    case "Review":
    case "Summary":
      return [
        { text: operation.body },
        ...commentsIn(operation).map(({ body, line, path }) => ({ path, line, text: body }))
      ]
    case "Issues":
      return operation.problems.map(({ file, text, title }) => ({ path: file, text: `${title}\n\n${text}` }))
    case "Label":
      return [{ text: operation.name }]
    case "CloseIssue":
    case "Issue":
    case "Reaction":
    case "Statement":
    case "Status":
    case "Thread":
    case "Threads":
    case "Withdraw":
      return []
  }
}

/** Returns the texts of an operation without hidden markers. */
export const listShownTexts = (operation: Operation) =>
  listTexts(operation)
    .map((one) => ({ ...one, text: withoutMarkers(one.text) }))
    .filter(({ text }) => text !== "")

/** Undefined for a run that publishes. */
export const withheldView = ({ reason, verdict }: Run, publications: ReadonlyArray<Publication>) => {
  const withheld = publications.filter(({ error }) => error?._tag === "InShadow")
  if (withheld.length === 0 && reason?._tag !== "InShadow") return undefined
  const texts = withheld.flatMap(({ channel, operation }): ReadonlyArray<WithheldTextRecord> =>
    listShownTexts(operation).map((one) => ({ channel, operation: operation._tag, ...one }))
  )
  return {
    texts,
    ...(verdict === undefined ? {} : { state: verdict.state, description: verdict.description })
  }
}
