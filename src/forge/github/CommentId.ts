/** Ids of comments at GitHub, which numbers comments below a change, at its lines, on commits and the texts of reviews apart. */
type Kind = "issue" | "line" | "review" | "commit"

export const toCommentId = <Id extends string | undefined>(kind: Kind, id: Id): Id | string =>
  kind === "issue" || id === undefined ? id : `${kind}-${id}`

/** Returns the number that GitHub has for the comment. */
export const toHostNumber = (id: string): string => id.replace(/^[a-z]+-/, "")

/** Returns whether the id is that of the text of a review. */
export const isReviewText = (id: string): boolean => id.startsWith("review-")
