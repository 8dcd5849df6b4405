/** Defines fields of records in responses: snake_case, times as texts. Fields without a value are absent. */
import { Schema } from "effect"
import { Reason } from "../../domain/Reason.ts"

export const text = (description: string) => Schema.String.annotate({ description })
/** A field that is absent if it has no value. */
export const maybe = (description: string) => Schema.optionalKey(text(description))
export const reason = (description: string) => Reason.annotate({ description })
export const maybeReason = (description: string) => Schema.optionalKey(reason(description))
export const count = (description: string) => Schema.Int.annotate({ description })
export const maybeCount = (description: string) => Schema.optionalKey(count(description))
export const time = (description: string) => Schema.String.annotate({ description: `${description}, in ISO 8601` })
export const maybeTime = (description: string) => Schema.optionalKey(time(description))

export const recordId = text("Id, ordered by time")
export const workspace = text("Id of the workspace")
export const targetKey = text("Key of the pull request, branch or issue")

/** Fields of the change of an entry, a batch or a run. */
export const change = {
  repo: text("Full name of the repository"),
  target_kind: text("What is reviewed: pull_request, push, issue, manual, …"),
  number: maybeCount("Number of the pull request or issue"),
  branch: maybe("Branch of a push"),
  head: maybe("Commit of the head; absent until it is read from the host"),
  title: maybe("Title of the change"),
  url: maybe("Address of the change at the host"),
  author: maybe("Account of the author")
}
