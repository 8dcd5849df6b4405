/** Texts of the page of a shared review. */
export const sharedReview = {
  language: "en",
  title: "Review of {place}",
  commit: "Commit",
  reviewed: "Reviewed",
  expires: "This link is valid until",
  comments: "What the comments say",
  nothing: "The review wrote no comment.",
  coverage: "Coverage",
  lines: "Changed lines that were read",
  files: "Files that were read",
  skipped: "Files that were not read"
} as const
