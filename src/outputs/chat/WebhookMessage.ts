/** The body of a plain webhook, which programs read. Its published schema is docs/webhook-body.schema.json. Pure. */
import { Schema } from "effect"
import { Severity } from "../../domain/Kinds.ts"
import { ReviewData } from "../../domain/ReviewData.ts"
import type { Finding } from "../../domain/Problem.ts"
import type { PublishInput } from "../channels/Channel.ts"
import { safeTexts } from "../SafeText.ts"
import { safeUrl } from "../text/Links.ts"
import { titled } from "./MessageTitle.ts"
import type { Platform } from "./Platform.ts"

/** A change that an existing receiver cannot read has another version. Further fields may be added to a version. */
export const WebhookBody = Schema.Struct({
  version: Schema.Literal(1),
  type: Schema.Literals(["review", "message"]),
  /** Time of the request, RFC 3339. */
  timestamp: Schema.String,
  data: Schema.Struct({
    title: Schema.String,
    /** Markdown, in which external text has no effect. */
    text: Schema.String,
    severity: Schema.optionalKey(Severity),
    /** Present for type `review`. */
    review: Schema.optionalKey(ReviewData)
  })
})

const toReviewedFinding = ({ anchor, fingerprint, problem }: Finding): ReviewData["findings"][number] => {
  const { category, line, message, rule, severity, suggestion, title } = problem
  const at = anchor?.line ?? line
  return {
    fingerprint,
    severity,
    category,
    message,
    file: anchor?.path ?? problem.file,
    ...(title === undefined ? {} : { title }),
    ...(suggestion === undefined ? {} : { suggestion }),
    ...(at === undefined ? {} : { line: at }),
    ...(rule === undefined ? {} : { rule })
  }
}

const toReviewData = (input: PublishInput, listed: ReadonlyArray<Finding>, hidden: number): ReviewData => {
  const { change, head, runId, runUrl } = input
  const { branch, kind, number } = change.target
  const url = safeUrl(change.url)
  return {
    run_id: runId,
    provider: change.provider,
    trigger: change.trigger,
    workspace: change.workspace,
    repository: change.repo.fullName,
    target: { kind, ...(number === undefined ? {} : { number }), ...(branch === undefined ? {} : { branch }) },
    ...(url === undefined ? {} : { url }),
    ...(runUrl === undefined ? {} : { run_url: runUrl }),
    head,
    findings: listed.map(toReviewedFinding),
    hidden
  }
}

export const plainWebhook = {
  safe: safeTexts.gfm,
  limit: 100_000,
  mention: ({ author }) => (author === undefined ? "" : safeTexts.gfm.plain(`@${author}`)),
  message: ({ body, review, severity, title }) =>
    ({
      version: 1,
      type: review === undefined ? "message" : "review",
      data: {
        title: titled(title),
        text: body,
        ...(severity === undefined ? {} : { severity }),
        ...(review === undefined ? {} : { review })
      }
    }) satisfies Omit<typeof WebhookBody.Type, "timestamp">,
  call: undefined,
  toData: toReviewData
} as const satisfies Platform
