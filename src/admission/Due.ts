/** Computes when admitted work may start. Milliseconds since the epoch. */
import type { ReviewConfig } from "../config/schema/Review.ts"
import type { TargetKind } from "../domain/Kinds.ts"
import { nextOpen } from "./Windows.ts"

/** Pull requests start immediately, or when their schedule opens. Without a schedule that of automatic commits applies. */
export const pullRequestDue = (review: ReviewConfig, now: number): number => {
  const own = review.pull_request.schedule
  return nextOpen(own.rules === undefined ? review.auto_commit.schedule : own, now)
}

/** A request of a comment or of chat starts immediately, unless the workspace has such requests wait for its windows. */
export const commandDue = (review: ReviewConfig, kind: TargetKind, now: number): number => {
  if (review.commands_ignore_windows) return now
  return kind === "pull_request" ? pullRequestDue(review, now) : nextOpen(review.auto_commit.schedule, now)
}

/** Automatic commits wait for further pushes of their batch, then for the next window. */
export const pushDue = (review: ReviewConfig, now: number): number =>
  nextOpen(review.auto_commit.schedule, now + review.auto_commit.delay_seconds * 1000)
