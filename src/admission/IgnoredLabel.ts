/** Labels that skip a review (`review.labels.ignore`). Hosts tell labels apart without regard to case, and so do we. Pure. */
import type { ReviewConfig } from "../config/schema/Review.ts"

export const isIgnoredLabel = ({ labels }: Pick<ReviewConfig, "labels">, label: string): boolean =>
  labels.ignore.some((ignored) => ignored.toLowerCase() === label.toLowerCase())
