/** Ids of comments at GitHub, which numbers comments on a pull request apart from those on its lines. */
export const toCommentId = (kind: "issue" | "line", id: string | undefined): string | undefined =>
  kind === "line" && id !== undefined ? `line-${id}` : id
