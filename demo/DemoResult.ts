/** Result of the demo: the current state of the pull request at the host, not the records of the service. */
import { Severity } from "../src/domain/Kinds.ts"
import type { Reason } from "../src/domain/Reason.ts"
import type { RunStatus } from "../src/domain/Run.ts"
import type { DemoPull } from "./DemoForgeState.ts"

export interface PostedComment {
  readonly path: string
  readonly line: number
  /** Severity in the comment itself. */
  readonly severity: Severity | undefined
  readonly body: string
}

/** Field names are those of `--json`. */
export interface DemoResult {
  /** `provider/model` of the review. */
  readonly model: string
  /** The webhook was accepted. */
  readonly accepted: boolean
  readonly run: { readonly id: string | undefined; readonly status: RunStatus; readonly reason: Reason | undefined }
  readonly comments: ReadonlyArray<PostedComment>
  /** The managed summary comment; empty when none was posted. */
  readonly summary: string
  /** Duration from sending the webhook to the end of the run. */
  readonly elapsed_ms: number
}

/** Inline comments and the summary that this account has written on the pull request. */
export const readBack = (pull: DemoPull, login: string): Pick<DemoResult, "comments" | "summary"> => ({
  comments: pull.reviews
    .filter(({ user }) => user.login === login)
    .flatMap(({ comments }) => comments.filter(({ reply }) => reply === undefined))
    .map(({ path, line, body }) => ({ path, line, severity: parseSeverity(body), body })),
  summary: pull.comments.findLast(({ user }) => user.login === login)?.body ?? ""
})

const parseSeverity = (body: string): Severity | undefined => {
  const [, word] = /\*\*(\w+)\*\*/.exec(body.split("\n")[0] ?? "") ?? []
  return Severity.literals.find((severity) => severity === word?.toLowerCase())
}
