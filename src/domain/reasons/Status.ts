/** Descriptions of the status of a commit. */
import type { Params } from "../ReasonParams.ts"

export const statusReasons = {
  ReviewInProgress: {},
  ReviewFailed: {},
  ReviewCancelled: {},
  ClosedUnreviewed: {},
  ReviewUnpublished: {},
  WaitedTooLong: {},
  VerdictLate: { minutes: "number" },
  NotReviewed: {},
  SupersededReview: {},
  SupersededBy: { head: "text" },
  WaitsForReview: {},
  AuthorOverLimit: {},
  BudgetExhausted: { known: "number?" },
  NoProblemsFound: { dismissed: "number?" },
  ProblemsFound: { severities: "reasons", dismissed: "number?" },
  SeverityCount: { count: "number", severity: "text" },
  ReportsLost: { found: "reason", count: "number" },
  MembersUnpassed: { found: "reason", changes: "texts" },
  FilesUnread: { found: "reason", count: "number" },
  LinesUnread: { found: "reason", lines: "number", changed: "number" },
  NothingToReview: {},
  HeldIn: { why: "reason", change: "text", branch: "text?" },
  HeldElsewhere: { why: "reason", branch: "text?" },
  PartlyPublished: { why: "reason" }
} as const satisfies Record<string, Params>
