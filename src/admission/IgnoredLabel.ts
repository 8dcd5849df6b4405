/** Finds labels that skip a review (`review.labels.ignore`). Hosts compare labels case-insensitively, and so does this. Pure. */
import type { ReviewConfig } from "../config/schema/Review.ts"

export const isIgnoredLabel = ({ labels }: Pick<ReviewConfig, "labels">, label: string): boolean =>
  labels.ignore.some((ignored) => ignored.toLowerCase() === label.toLowerCase())
