/** Descriptions of the status of a commit. */
import type { statusReasons } from "../../domain/reasons/Status.ts"

export const statusTexts = {
  ReviewInProgress: "Review in progress",
  ReviewFailed: "The review failed",
  ReviewCancelled: "The review was cancelled",
  ClosedUnreviewed: "Not reviewed: closed before the review ended",
  ReviewUnpublished: "The review could not be published",
  WaitedTooLong: "Not reviewed: it waited for too long",
  VerdictLate: "No verdict within {minutes} minutes: the review follows",
  NotReviewed: "Not reviewed",
  SupersededReview: "Superseded by a newer review",
  SupersededBy: "Superseded by {head}",
  WaitsForReview: "Waits for a review",
  AuthorOverLimit: "Not reviewed: its author has reached the limit of reviews per hour",
  BudgetExhausted: "Not reviewed: the budget for model calls is exhausted[[; {known} known {known|problem|problems}]]",
  NoProblemsFound: "No problems found[[, {dismissed} dismissed]]",
  ProblemsFound: "{severities,}[[, {dismissed} dismissed]]",
  SeverityCount: "{count} {severity:severity}",
  ReportsLost: "{found} in what could be used; {count} {count|report|reports} of the model could not be read",
  MembersUnpassed: "{found}; not passed: {changes}",
  FilesUnread: "{found} in what was read; {count} {count|file|files} not read in full",
  LinesUnread: "{found} in what was read; {lines} of {changed} changed lines read",
  NothingToReview: "Nothing to review",
  HeldIn: "{why} in {change}[[ (into {branch})]]",
  HeldElsewhere: "{why} in another change[[ (into {branch})]]",
  PartlyPublished: "{why}; not all of it could be published"
} as const satisfies Record<keyof typeof statusReasons, string>
